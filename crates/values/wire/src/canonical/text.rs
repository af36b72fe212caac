//! Decoded JSON strings, including half surrogate pairs: reading, ordering and writing.

use std::cmp::Ordering;

/// A decoded JSON string: UTF-8, in which half a surrogate pair is encoded as the three bytes it
/// would have.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JsonString(Vec<u8>);

impl JsonString {
    /// Decodes a JSON string, quotes included. Returns `None` if it is not a string.
    pub fn decode(raw: &[u8]) -> Option<Self> {
        let mut rest = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        let mut text = Vec::with_capacity(rest.len());
        while let Some(at) = rest.iter().position(|byte| *byte == b'\\' || *byte < b' ') {
            text.extend_from_slice(&rest[..at]);
            rest = decode_escape(rest[at..].strip_prefix(b"\\")?, &mut text)?;
        }
        text.extend_from_slice(rest);
        Some(Self(text))
    }

    /// Returns the text for display, with half surrogate pairs replaced.
    pub fn to_string_lossy(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }

    /// Writes the text as a JSON string.
    pub fn write(&self, out: &mut Vec<u8>) {
        write_bytes(&self.0, out);
    }
}

impl PartialEq<str> for JsonString {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl PartialOrd for JsonString {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for JsonString {
    /// Orders by UTF-16 code units, as in RFC 8785.
    fn cmp(&self, other: &Self) -> Ordering {
        compare_bytes(&self.0, &other.0)
    }
}

/// Compares two keys by UTF-16 code units. Beyond U+D7FF this differs from the order of the bytes.
pub fn compare_keys(one: &str, other: &str) -> Ordering {
    compare_bytes(one.as_bytes(), other.as_bytes())
}

/// Writes a text as a JSON string, with the fewest escapes.
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    write_bytes(text.as_bytes(), out);
}

fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    let mut written = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte >= b' ' && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[written..at]);
        written = at + 1;
        let short = match byte {
            b'"' | b'\\' => byte,
            0x08 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            0x0C => b'f',
            b'\r' => b'r',
            _ => {
                out.extend_from_slice(b"\\u00");
                out.push(DIGITS[usize::from(byte >> 4)]);
                out.push(DIGITS[usize::from(byte & 15)]);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', short]);
    }
    out.extend_from_slice(&bytes[written..]);
    out.push(b'"');
}

fn compare_bytes(one: &[u8], other: &[u8]) -> Ordering {
    match one.is_ascii() && other.is_ascii() {
        true => one.cmp(other),
        false => utf16_units(one).cmp(utf16_units(other)),
    }
}

/// Iterates over the UTF-16 code units of a text.
fn utf16_units(mut rest: &[u8]) -> impl Iterator<Item = u16> + '_ {
    let mut low = None;
    std::iter::from_fn(move || {
        if let Some(low) = low.take() {
            return Some(low);
        }
        let (point, length) = code_point(rest)?;
        rest = rest.get(length..).unwrap_or_default();
        match u16::try_from(point) {
            Ok(unit) => Some(unit),
            Err(_) => {
                let above = point - 0x1_0000;
                low = u16::try_from(0xDC00 + (above & 0x3FF)).ok();
                u16::try_from(0xD800 + (above >> 10)).ok()
            }
        }
    })
}

/// Returns the first code point of `bytes` and its length in bytes.
fn code_point(bytes: &[u8]) -> Option<(u32, usize)> {
    let first = *bytes.first()?;
    let (lead, length) = match first {
        0x00..=0x7F => (u32::from(first), 1),
        0x80..=0xDF => (u32::from(first & 0x1F), 2),
        0xE0..=0xEF => (u32::from(first & 0x0F), 3),
        _ => (u32::from(first & 0x07), 4),
    };
    let tail = bytes.get(1..length).unwrap_or_default();
    let point = tail.iter().fold(lead, |point, byte| point << 6 | u32::from(byte & 0x3F));
    Some((point, length))
}

/// Decodes the escape after a backslash and returns the rest.
fn decode_escape<'a>(rest: &'a [u8], text: &mut Vec<u8>) -> Option<&'a [u8]> {
    let (letter, rest) = rest.split_first()?;
    let byte = match letter {
        b'"' | b'\\' | b'/' => *letter,
        b'b' => 0x08,
        b'f' => 0x0C,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'u' => {
            let (unit, rest) = parse_code_unit(rest)?;
            let (point, rest) = decode_surrogate_pair(unit, rest).unwrap_or((unit, rest));
            push_code_point(text, point);
            return Some(rest);
        }
        _ => return None,
    };
    text.push(byte);
    Some(rest)
}

/// Returns the code point of a surrogate pair, if the second half follows the first.
fn decode_surrogate_pair(high: u32, rest: &[u8]) -> Option<(u32, &[u8])> {
    let (low, rest) = parse_code_unit(rest.strip_prefix(b"\\u")?)?;
    let is_pair = (0xD800..=0xDBFF).contains(&high) && (0xDC00..=0xDFFF).contains(&low);
    is_pair.then(|| (0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00), rest))
}

fn parse_code_unit(rest: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = rest.split_at_checked(4)?;
    let unit = digits.iter().try_fold(0, |unit, b| Some(unit << 4 | char::from(*b).to_digit(16)?));
    Some((unit?, rest))
}

/// Appends a code point as UTF-8, even half a surrogate pair.
fn push_code_point(text: &mut Vec<u8>, point: u32) {
    if let Some(c) = char::from_u32(point) {
        text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        return;
    }
    let low = |shift: u32| 0x80 | (point >> shift & 0x3F) as u8;
    text.extend_from_slice(&[0xE0 | (point >> 12) as u8, low(6), low(0)]);
}
