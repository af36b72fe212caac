//! What a JSON string says, whatever the pieces it comes in.
//!
//! The string was accepted before; half a surrogate pair, which no text can hold, becomes the
//! replacement character.

/// Reads the raw bytes of one string, quotes included, and writes its text.
#[derive(Debug, Default)]
pub struct Unescape {
    begun: bool,
    /// The escape that is being read, without its backslash; none outside.
    escape: Option<Vec<u8>>,
    /// The first half of a surrogate pair.
    half: Option<u16>,
}

impl Unescape {
    /// Takes the next piece of the string; what it says is added to `text`.
    pub fn push(&mut self, piece: &[u8], text: &mut Vec<u8>) {
        let mut rest = piece;
        if !self.begun && !rest.is_empty() {
            self.begun = true;
            rest = rest.strip_prefix(b"\"").unwrap_or(rest);
        }
        while let Some(&first) = rest.first() {
            if self.escape.is_some() {
                self.escaped(first, text);
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            let end = memchr::memchr2(b'\\', b'"', rest).unwrap_or(rest.len());
            if end > 0 {
                self.settle(text);
            }
            text.extend_from_slice(rest.get(..end).unwrap_or_default());
            if rest.get(end) == Some(&b'\\') {
                self.escape = Some(Vec::new());
            }
            // The one quote that is not escaped ends the string.
            rest = rest.get(end + 1..).unwrap_or_default();
        }
    }

    /// The end of the string.
    pub fn finish(mut self, text: &mut Vec<u8>) {
        self.settle(text);
    }

    /// Half a pair that stays alone.
    fn settle(&mut self, text: &mut Vec<u8>) {
        if self.half.take().is_some() {
            put(char::REPLACEMENT_CHARACTER, text);
        }
    }

    fn escaped(&mut self, byte: u8, text: &mut Vec<u8>) {
        let Some(escape) = &mut self.escape else { return };
        escape.push(byte);
        let said = match escape.as_slice() {
            [b'u', digits @ ..] if digits.len() < 4 => return,
            [b'u', digits @ ..] => {
                let digits = std::str::from_utf8(digits).unwrap_or_default();
                let unit = u16::from_str_radix(digits, 16).unwrap_or_default();
                self.escape = None;
                return self.unit(unit, text);
            }
            b"b" => '\u{8}',
            b"f" => '\u{c}',
            b"n" => '\n',
            b"r" => '\r',
            b"t" => '\t',
            _ => char::from(byte),
        };
        self.escape = None;
        self.settle(text);
        put(said, text);
    }

    fn unit(&mut self, unit: u16, text: &mut Vec<u8>) {
        if let (Some(high), 0xDC00..=0xDFFF) = (self.half, unit) {
            self.half = None;
            return put_pair(high, unit, text);
        }
        self.settle(text);
        match char::from_u32(u32::from(unit)) {
            Some(said) => put(said, text),
            None if unit < 0xDC00 => self.half = Some(unit),
            None => put(char::REPLACEMENT_CHARACTER, text),
        }
    }
}

fn put_pair(high: u16, low: u16, text: &mut Vec<u8>) {
    let said = char::decode_utf16([high, low]);
    said.map(|said| said.unwrap_or(char::REPLACEMENT_CHARACTER)).for_each(|said| put(said, text));
}

fn put(said: char, text: &mut Vec<u8>) {
    text.extend_from_slice(said.encode_utf8(&mut [0; 4]).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(raw: &[u8], step: usize) -> String {
        let mut text = Vec::new();
        let mut reader = Unescape::default();
        raw.chunks(step).for_each(|piece| reader.push(piece, &mut text));
        reader.finish(&mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn every_escape_is_read_however_it_is_cut() {
        let raw = r#""plain \"q\" \\ \/ \b\f\n\r\t \u00e9\u65E5 \ud83d\ude42 żółć""#;
        let expected: String = serde_json::from_str(raw).unwrap();
        let halves = br#""\ud83d \ud83d\n\ude42\ud83d\u0041\ud83d\ud83d\ude42\ud83d""#;
        for step in 1..12 {
            assert_eq!(said(raw.as_bytes(), step), expected, "in steps of {step}");
            let half = "\u{fffd} \u{fffd}\n\u{fffd}\u{fffd}A\u{fffd}🙂\u{fffd}";
            assert_eq!(said(halves, step), half, "in steps of {step}");
            assert_eq!(said(b"\"\"", step), "");
        }
    }
}
