//! Decodes a JSON string that arrives in chunks.
//!
//! The string must already be valid. Half a surrogate pair, which no text can hold, becomes the
//! replacement character.

/// A streaming decoder for one raw JSON string, quotes included.
#[derive(Debug, Default)]
pub struct JsonStringDecoder {
    begun: bool,
    /// The escape being read, without its backslash; `None` outside of an escape.
    escape: Option<Vec<u8>>,
    /// The first half of a surrogate pair.
    high_surrogate: Option<u16>,
}

impl JsonStringDecoder {
    /// Decodes the next chunk and appends the result to `text`.
    pub fn push(&mut self, piece: &[u8], text: &mut Vec<u8>) {
        let mut rest = piece;
        if !self.begun && !rest.is_empty() {
            self.begun = true;
            rest = rest.strip_prefix(b"\"").unwrap_or(rest);
        }
        while let Some(&first) = rest.first() {
            if self.escape.is_some() {
                self.push_escape_byte(first, text);
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            let end = memchr::memchr2(b'\\', b'"', rest).unwrap_or(rest.len());
            if end > 0 {
                self.flush_surrogate(text);
            }
            text.extend_from_slice(rest.get(..end).unwrap_or_default());
            if rest.get(end) == Some(&b'\\') {
                self.escape = Some(Vec::new());
            }
            // Only the closing quote is not escaped.
            rest = rest.get(end + 1..).unwrap_or_default();
        }
    }

    /// Ends the string.
    pub fn finish(mut self, text: &mut Vec<u8>) {
        self.flush_surrogate(text);
    }

    /// Writes a replacement character for an unpaired surrogate.
    fn flush_surrogate(&mut self, text: &mut Vec<u8>) {
        if self.high_surrogate.take().is_some() {
            push_char(char::REPLACEMENT_CHARACTER, text);
        }
    }

    fn push_escape_byte(&mut self, byte: u8, text: &mut Vec<u8>) {
        let Some(escape) = &mut self.escape else { return };
        escape.push(byte);
        let decoded = match escape.as_slice() {
            [b'u', digits @ ..] if digits.len() < 4 => return,
            [b'u', digits @ ..] => {
                let digits = std::str::from_utf8(digits).unwrap_or_default();
                let unit = u16::from_str_radix(digits, 16).unwrap_or_default();
                self.escape = None;
                return self.push_code_unit(unit, text);
            }
            b"b" => '\u{8}',
            b"f" => '\u{c}',
            b"n" => '\n',
            b"r" => '\r',
            b"t" => '\t',
            _ => char::from(byte),
        };
        self.escape = None;
        self.flush_surrogate(text);
        push_char(decoded, text);
    }

    fn push_code_unit(&mut self, unit: u16, text: &mut Vec<u8>) {
        if let (Some(high), 0xDC00..=0xDFFF) = (self.high_surrogate, unit) {
            self.high_surrogate = None;
            return push_surrogate_pair(high, unit, text);
        }
        self.flush_surrogate(text);
        match char::from_u32(u32::from(unit)) {
            Some(decoded) => push_char(decoded, text),
            None if unit < 0xDC00 => self.high_surrogate = Some(unit),
            None => push_char(char::REPLACEMENT_CHARACTER, text),
        }
    }
}

fn push_surrogate_pair(high: u16, low: u16, text: &mut Vec<u8>) {
    let decoded = char::decode_utf16([high, low]);
    decoded
        .map(|decoded| decoded.unwrap_or(char::REPLACEMENT_CHARACTER))
        .for_each(|decoded| push_char(decoded, text));
}

fn push_char(decoded: char, text: &mut Vec<u8>) {
    text.extend_from_slice(decoded.encode_utf8(&mut [0; 4]).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(raw: &[u8], step: usize) -> String {
        let mut text = Vec::new();
        let mut reader = JsonStringDecoder::default();
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
            assert_eq!(decoded(raw.as_bytes(), step), expected, "in steps of {step}");
            let half = "\u{fffd} \u{fffd}\n\u{fffd}\u{fffd}A\u{fffd}🙂\u{fffd}";
            assert_eq!(decoded(halves, step), half, "in steps of {step}");
            assert_eq!(decoded(b"\"\"", step), "");
        }
    }
}
