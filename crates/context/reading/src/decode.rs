//! Decodes the bytes of a file.

/// Decoded text with the number of replacements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LossyText {
    /// The text.
    pub text: String,
    /// The number of invalid sequences that were replaced by `U+FFFD`.
    pub replaced: usize,
}

/// Decodes bytes as UTF-8, or as UTF-16 if they begin with its byte order mark. Invalid sequences
/// become `U+FFFD` and are counted.
pub fn decode(bytes: &[u8]) -> LossyText {
    match bytes {
        [0xff, 0xfe, rest @ ..] => decode_utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => decode_utf16(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => decode_utf8(rest),
        _ => decode_utf8(bytes),
    }
}

fn decode_utf8(bytes: &[u8]) -> LossyText {
    let mut decoded = LossyText { text: String::with_capacity(bytes.len()), replaced: 0 };
    for chunk in bytes.utf8_chunks() {
        decoded.text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            decoded.text.push(char::REPLACEMENT_CHARACTER);
            decoded.replaced += 1;
        }
    }
    decoded
}

fn decode_utf16(bytes: &[u8], number: fn([u8; 2]) -> u16) -> LossyText {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut decoded = LossyText { text: String::with_capacity(bytes.len() / 2), replaced: 0 };
    for unit in char::decode_utf16(pairs.iter().map(|pair| number(*pair))) {
        decoded.replaced += usize::from(unit.is_err());
        decoded.text.push(unit.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    decoded.replaced += usize::from(!rest.is_empty());
    decoded
}

#[cfg(test)]
mod tests {
    use super::decode;

    fn decoded(bytes: &[u8]) -> (String, usize) {
        let decoded = decode(bytes);
        (decoded.text, decoded.replaced)
    }

    #[test]
    fn marks_tell_how_bytes_are_meant() {
        assert_eq!(decoded("aé".as_bytes()), ("aé".to_owned(), 0));
        assert_eq!(decoded(b"\xef\xbb\xbfx"), ("x".to_owned(), 0));
        assert_eq!(decoded(b"\xff\xfea\0\xe9\0"), ("aé".to_owned(), 0));
        assert_eq!(decoded(b"\xfe\xff\0a\0\xe9"), ("aé".to_owned(), 0));
    }

    #[test]
    fn what_is_no_text_is_counted() {
        assert_eq!(decoded(b"a\xffb\xc3"), ("a\u{fffd}b\u{fffd}".to_owned(), 2));
        assert_eq!(decoded(b"\xff\xfe\x00\xd8a\0z"), ("\u{fffd}a".to_owned(), 2));
    }
}
