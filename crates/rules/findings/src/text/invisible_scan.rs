//! A fast check whether text contains invisible characters. Nearly all text does not, so the check
//! skips printable ASCII in blocks.

use toolgate_model::is_invisible;

use super::is_hidden;

const BLOCK: usize = 32;
/// The longest spelling of one character, in bytes: the escapes of a surrogate pair.
const OVERLAP: usize = 12;

/// Returns the offset of the first invisible character at or after `at`, ignoring line ends and
/// tabs. With `escapes`, the bytes are JSON, and escapes count as the characters they stand for; a
/// lone surrogate does not count.
pub fn find_invisible(bytes: &[u8], mut at: usize, escapes: bool) -> Option<usize> {
    loop {
        at = plain_end(bytes, at);
        let byte = *bytes.get(at)?;
        let (found, step) = match byte {
            b'\\' if escapes => escape(bytes.get(at..).unwrap_or_default()),
            b'\\' | b'\n' | b'\r' | b'\t' => (false, 1),
            0..0x80 => (true, 1),
            // The leading bytes of all invisible characters.
            0xC2 | 0xCD | 0xD8 | 0xE1..=0xE3 | 0xEF | 0xF0 | 0xF3 => {
                let (c, len) = decode_char(bytes.get(at..).unwrap_or_default());
                (c.is_some_and(is_invisible), len)
            }
            0xE0..0xF0 => (false, 3),
            0xF0.. => (false, 4),
            _ => (false, 2),
        };
        if found {
            return Some(at);
        }
        at += step;
    }
}

/// Returns the end of a run of printable ASCII without backslashes.
fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && *byte != b'\\';
    if !bytes.get(at).is_some_and(is_plain) {
        return at;
    }
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
        // Without a branch per byte, the compiler vectorises this loop.
        let odd = block.iter().fold(0, |odd, byte| odd | u8::from(!is_plain(byte)));
        if odd != 0 {
            break;
        }
        at += BLOCK;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| !is_plain(byte)).unwrap_or(rest.len())
}

/// Returns the first character of UTF-8 text, if it is one, and the length of its first byte's
/// sequence.
pub fn decode_char(rest: &[u8]) -> (Option<char>, usize) {
    let len = match rest.first() {
        Some(0xF0..) => 4,
        Some(0xE0..) => 3,
        Some(0xC0..) => 2,
        _ => 1,
    };
    let text = rest.get(..len).and_then(|bytes| str::from_utf8(bytes).ok());
    (text.and_then(|text| text.chars().next()), len)
}

/// Returns whether the first escape stands for an invisible character, and its length.
fn escape(rest: &[u8]) -> (bool, usize) {
    match rest.get(1) {
        Some(b'b' | b'f') => (true, 2),
        Some(b'u') => {
            let (c, len) = decode_escape(rest);
            (c.is_some_and(is_hidden), len)
        }
        _ => (false, 2),
    }
}

/// Returns the character that `\uXXXX`, or a pair of them, stands for, and the length of the
/// escape. A lone surrogate is no character.
pub fn decode_escape(rest: &[u8]) -> (Option<char>, usize) {
    let Some(unit) = unit_at(rest) else { return (None, rest.len().min(6)) };
    if let Some(c) = char::from_u32(u32::from(unit)) {
        return (Some(c), 6);
    }
    let low = rest.get(6..).and_then(unit_at);
    match low.and_then(|low| char::decode_utf16([unit, low]).next()?.ok()) {
        Some(c) => (Some(c), 12),
        None => (None, 6),
    }
}

fn unit_at(rest: &[u8]) -> Option<u16> {
    let digits = rest.strip_prefix(b"\\u")?.get(..4)?;
    u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}

/// Detects invisible characters in JSON that arrives in chunks.
///
/// It can report false positives, because an escaped backslash that is split between two chunks
/// looks like a backslash. It has no false negatives.
#[derive(Debug, Default)]
pub struct HiddenCharDetector {
    tail: Vec<u8>,
    found: bool,
}

impl HiddenCharDetector {
    /// Adds the next chunk. Returns true if any chunk so far contains an invisible character.
    pub fn push(&mut self, piece: &[u8]) -> bool {
        if self.found {
            return true;
        }
        self.tail.extend_from_slice(piece.get(..OVERLAP).unwrap_or(piece));
        let cut = (0..self.tail.len()).any(|from| starts_with_invisible(&self.tail, from));
        self.found = cut || find_invisible(piece, 0, true).is_some();
        let keep = |bytes: &[u8]| bytes.len().saturating_sub(OVERLAP);
        match piece.len() < OVERLAP {
            true => drop(self.tail.drain(..keep(&self.tail))),
            false => self.tail = piece.get(keep(piece)..).unwrap_or_default().to_vec(),
        }
        self.found
    }
}

/// Returns true if an invisible character or its escape begins at `from`.
fn starts_with_invisible(bytes: &[u8], from: usize) -> bool {
    let rest = bytes.get(from..).unwrap_or_default();
    match rest.first() {
        Some(b'\\') => escape(rest).0,
        Some(0xC0..) => decode_char(rest).0.is_some_and(is_invisible),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_invisible_is_found_and_nothing_else() {
        let mut buffer = [0; 4];
        for c in (0..=0x10FFFF).filter_map(char::from_u32) {
            let expected = is_invisible(c) && !matches!(c, '\n' | '\r' | '\t');
            let text = format!("plain text {} and more", c.encode_utf8(&mut buffer));
            assert_eq!(
                find_invisible(text.as_bytes(), 0, false).is_some(),
                expected,
                "U+{:04X}",
                c as u32
            );
        }
    }

    #[test]
    fn escapes_are_read_as_what_they_stand_for() {
        for c in (0..=0x10FFFF).filter_map(char::from_u32) {
            let units: String =
                c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04X}")).collect();
            let expected = is_invisible(c) && !matches!(c, '\n' | '\r' | '\t');
            let found = find_invisible(format!("\"a{units}b\"").as_bytes(), 0, true);
            assert_eq!(found.is_some(), expected, "{units}");
        }
        for harmless in [r#""\n\t\"\\u200b""#, r#""\udb40 \u0041""#, r#"{"a":"\\"}"#] {
            assert_eq!(find_invisible(harmless.as_bytes(), 0, true), None, "{harmless}");
        }
    }

    #[test]
    fn what_is_cut_in_two_is_found() {
        for text in ["\"a\u{200b}b\"", r#""a\u200bb""#, r#""long enough \uDB40\uDC41 b""#] {
            for step in 1..20 {
                let mut watch = HiddenCharDetector::default();
                let found = text.as_bytes().chunks(step).map(|piece| watch.push(piece));
                assert_eq!(found.last(), Some(true), "{text} in steps of {step}");
            }
        }
        let mut watch = HiddenCharDetector::default();
        let plain = "{\"text\":\"żółć日本 \\n and so on\"}".repeat(20);
        assert!(plain.as_bytes().chunks(7).all(|piece| !watch.push(piece)));
    }
}
