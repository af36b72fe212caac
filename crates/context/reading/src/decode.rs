//! Decodes the bytes of a file to text.
//!
//! A byte order mark decides the encoding; the default is UTF-8. Invalid UTF-8 does not reject a
//! document: text in an old single-byte encoding is decoded as Windows-1252 (a superset of
//! printable Latin-1), and in a text that is otherwise UTF-8 the invalid bytes are replaced. A note
//! says so. No other encoding is guessed.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// A decoded text, and a note if decoding was not exact.
#[derive(Debug, PartialEq, Eq)]
pub struct DecodedText {
    /// The text.
    pub text: String,
    /// What was replaced or guessed.
    pub note: Option<String>,
}

/// Decodes bytes to text.
pub fn decode(bytes: Vec<u8>) -> DecodedText {
    let (encoding, mark) = Encoding::for_bom(&bytes).unwrap_or((UTF_8, 0));
    if encoding != UTF_8 {
        let (text, is_damaged) = encoding.decode_without_bom_handling(&bytes[mark..]);
        let note = || format!("not valid {}: some characters were replaced", encoding.name());
        return DecodedText { text: text.into_owned(), note: is_damaged.then(note) };
    }
    match String::from_utf8(bytes) {
        Ok(mut text) => {
            text.drain(..mark);
            DecodedText { text, note: None }
        }
        Err(error) => decode_invalid_utf8(&error.as_bytes()[mark..]),
    }
}

fn decode_invalid_utf8(bytes: &[u8]) -> DecodedText {
    let (mut bad, mut good) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        bad += usize::from(!chunk.invalid().is_empty());
        good += chunk.valid().chars().filter(|letter| !letter.is_ascii()).count();
    }
    // Text in a single-byte encoding is hardly ever valid UTF-8 by chance.
    let is_undefined = |byte: &u8| matches!(byte, 0x81 | 0x8d | 0x8f | 0x90 | 0x9d);
    let (text, note) = if good >= bad || bytes.iter().any(is_undefined) {
        let note = format!("not valid UTF-8 at {bad} places, which were replaced");
        (String::from_utf8_lossy(bytes), note)
    } else {
        (WINDOWS_1252.decode(bytes).0, "not UTF-8: read as Windows-1252".to_owned())
    };
    DecodedText { text: text.into_owned(), note: Some(note) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> (String, bool) {
        let DecodedText { text, note } = decode(bytes.to_vec());
        (text, note.is_some())
    }

    fn read(text: &str) -> (String, bool) {
        (text.to_owned(), false)
    }

    #[test]
    fn utf8_is_kept_as_it_is_without_its_mark() {
        assert_eq!(text("Grüße ✓".as_bytes()), read("Grüße ✓"));
        assert_eq!(text("\u{feff}Grüße".as_bytes()), read("Grüße"));
        assert_eq!(text(b""), read(""));
    }

    #[test]
    fn a_mark_of_utf16_decides() {
        let units: Vec<u16> = "Grüße 🦀".encode_utf16().collect();
        let little: Vec<u8> = [0xff, 0xfe]
            .into_iter()
            .chain(units.iter().flat_map(|unit| unit.to_le_bytes()))
            .collect();
        let big: Vec<u8> = [0xfe, 0xff]
            .into_iter()
            .chain(units.iter().flat_map(|unit| unit.to_be_bytes()))
            .collect();
        assert_eq!(text(&little), read("Grüße 🦀"));
        assert_eq!(text(&big), read("Grüße 🦀"));
        let (cut, noted) = text(&little[..little.len() - 1]);
        assert!(noted && cut.starts_with("Grüße"), "{cut}");
    }

    #[test]
    fn an_old_encoding_is_read_and_told() {
        assert_eq!(text(b"Gr\xfc\xdfe f\xfcr 5 \x80"), ("Grüße für 5 €".to_owned(), true));
    }

    #[test]
    fn a_damaged_utf8_text_keeps_what_is_good() {
        let (kept, noted) = text(b"Gr\xc3\xbc\xc3\x9fe \xff ende");
        assert_eq!((kept.as_str(), noted), ("Grüße \u{fffd} ende", true));
        // No character of Windows-1252 either.
        let (kept, noted) = text(b"a \x81 b");
        assert_eq!((kept.as_str(), noted), ("a \u{fffd} b", true));
    }

    #[test]
    fn a_mark_before_damaged_text_is_no_part_of_it() {
        assert_eq!(text(b"\xef\xbb\xbfcaf\xe9"), ("café".to_owned(), true));
    }
}
