//! Whether there is anything to look at: nearly every text holds nothing invisible, and is passed
//! over at the speed of reading it.

use toolgate_model::is_invisible;

const BLOCK: usize = 32;
/// How far back a place that is cut in two may begin: the escapes of a surrogate pair.
const OVERLAP: usize = 12;

/// The first place at or behind `at` where something invisible stands, other than line ends and
/// tabs. With `escapes`, the bytes are JSON, in which characters may be written as escapes; a lone
/// half of a pair counts as nothing.
pub(super) fn find(bytes: &[u8], mut at: usize, escapes: bool) -> Option<usize> {
    loop {
        at = plain_end(bytes, at);
        let byte = *bytes.get(at)?;
        let (found, step) = match byte {
            b'\\' if escapes => escape(bytes.get(at..).unwrap_or_default()),
            b'\\' | b'\n' | b'\r' | b'\t' => (false, 1),
            0..0x80 => (true, 1),
            // The first bytes of everything invisible there is.
            0xC2 | 0xCD | 0xD8 | 0xE1..=0xE3 | 0xEF | 0xF0 | 0xF3 => {
                character(bytes.get(at..).unwrap_or_default())
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

/// The end of a stretch of printable ASCII without a backslash.
fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && *byte != b'\\';
    if !bytes.get(at).is_some_and(is_plain) {
        return at;
    }
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
        // No branch per byte: the compiler makes vector code of it.
        let odd = block.iter().fold(0, |odd, byte| odd | u8::from(!is_plain(byte)));
        if odd != 0 {
            break;
        }
        at += BLOCK;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| !is_plain(byte)).unwrap_or(rest.len())
}

/// Whether the character here is invisible, and how long it is.
fn character(rest: &[u8]) -> (bool, usize) {
    let len = match rest.first() {
        Some(0xF0..) => 4,
        Some(0xE0..) => 3,
        _ => 2,
    };
    let text = rest.get(..len).and_then(|bytes| str::from_utf8(bytes).ok());
    let c = text.and_then(|text| text.chars().next());
    (c.is_some_and(is_invisible), len)
}

/// Whether the escape here stands for something invisible, and how long it is.
fn escape(rest: &[u8]) -> (bool, usize) {
    match rest.get(1) {
        Some(b'b' | b'f') => (true, 2),
        Some(b'u') => {
            let (c, len) = unicode(rest);
            let found = c.is_some_and(|c| is_invisible(c) && !matches!(c, '\n' | '\r' | '\t'));
            (found, len)
        }
        _ => (false, 2),
    }
}

/// The character that `\uXXXX`, or a pair of them, stands for, and how long that is; none for half
/// a pair.
pub(super) fn unicode(rest: &[u8]) -> (Option<char>, usize) {
    let Some(unit) = unit(rest) else { return (None, rest.len().min(6)) };
    if let Some(c) = char::from_u32(u32::from(unit)) {
        return (Some(c), 6);
    }
    let low = unit_behind(rest);
    match low.and_then(|low| char::decode_utf16([unit, low]).next()?.ok()) {
        Some(c) => (Some(c), 12),
        None => (None, 6),
    }
}

fn unit_behind(rest: &[u8]) -> Option<u16> {
    unit(rest.get(6..)?)
}

fn unit(rest: &[u8]) -> Option<u16> {
    let digits = rest.strip_prefix(b"\\u")?.get(..4)?;
    u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}

/// Watches JSON that comes in pieces for anything invisible.
///
/// It may find something where there is nothing: an escaped backslash that is cut in two reads like
/// a backslash. It misses nothing.
#[derive(Debug, Default)]
pub struct Watch {
    tail: Vec<u8>,
    found: bool,
}

impl Watch {
    /// Takes the next piece; whether anything was found so far.
    pub fn push(&mut self, piece: &[u8]) -> bool {
        if self.found {
            return true;
        }
        self.tail.extend_from_slice(piece.get(..OVERLAP).unwrap_or(piece));
        let cut = (0..self.tail.len()).any(|from| find_from(&self.tail, from));
        self.found = cut || find(piece, 0, true).is_some();
        let keep = |bytes: &[u8]| bytes.len().saturating_sub(OVERLAP);
        match piece.len() < OVERLAP {
            true => drop(self.tail.drain(..keep(&self.tail))),
            false => self.tail = piece.get(keep(piece)..).unwrap_or_default().to_vec(),
        }
        self.found
    }
}

/// Whether something invisible is written from exactly here on.
fn find_from(bytes: &[u8], from: usize) -> bool {
    let rest = bytes.get(from..).unwrap_or_default();
    match rest.first() {
        Some(b'\\') => escape(rest).0,
        Some(0xC0..) => character(rest).0,
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
            assert_eq!(find(text.as_bytes(), 0, false).is_some(), expected, "U+{:04X}", c as u32);
        }
    }

    #[test]
    fn escapes_are_read_as_what_they_stand_for() {
        for c in (0..=0x10FFFF).filter_map(char::from_u32) {
            let units: String =
                c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04X}")).collect();
            let expected = is_invisible(c) && !matches!(c, '\n' | '\r' | '\t');
            let found = find(format!("\"a{units}b\"").as_bytes(), 0, true);
            assert_eq!(found.is_some(), expected, "{units}");
        }
        for harmless in [r#""\n\t\"\\u200b""#, r#""\udb40 \u0041""#, r#"{"a":"\\"}"#] {
            assert_eq!(find(harmless.as_bytes(), 0, true), None, "{harmless}");
        }
    }

    #[test]
    fn what_is_cut_in_two_is_found() {
        for text in ["\"a\u{200b}b\"", r#""a\u200bb""#, r#""long enough \uDB40\uDC41 b""#] {
            for step in 1..20 {
                let mut watch = Watch::default();
                let found = text.as_bytes().chunks(step).map(|piece| watch.push(piece));
                assert_eq!(found.last(), Some(true), "{text} in steps of {step}");
            }
        }
        let mut watch = Watch::default();
        let plain = "{\"text\":\"żółć日本 \\n and so on\"}".repeat(20);
        assert!(plain.as_bytes().chunks(7).all(|piece| !watch.push(piece)));
    }
}
