//! Decodes the bytes of a file to text.
//!
//! A byte order mark decides the encoding; the default is UTF-8. Invalid UTF-8 does not reject a
//! document: text in an old single-byte encoding is decoded as Windows-1252 (a superset of
//! printable Latin-1), and in a text that is otherwise UTF-8 the invalid bytes are replaced. The
//! report notes both. No other encoding is guessed.

/// A decoded text, and a note if decoding was not exact.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DecodedText {
    pub(super) text: String,
    pub(super) note: Option<String>,
}

impl DecodedText {
    fn plain(text: String) -> Self {
        Self { text, note: None }
    }
}

/// Returns true if the bytes begin with a UTF-16 byte order mark. Such text contains zero bytes,
/// which otherwise mean a binary file.
pub(super) fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff])
}

/// Decodes bytes to text.
pub(super) fn decode(bytes: Vec<u8>) -> DecodedText {
    match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, ..] => utf8(bytes, 3),
        _ => utf8(bytes, 0),
    }
}

fn utf8(bytes: Vec<u8>, mark: usize) -> DecodedText {
    match String::from_utf8(bytes) {
        Ok(mut text) => {
            text.drain(..mark);
            DecodedText::plain(text)
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
    if good >= bad || bytes.iter().any(|byte| windows_1252(*byte).is_none()) {
        let text = String::from_utf8_lossy(bytes).into_owned();
        return DecodedText {
            text,
            note: Some(format!("not valid UTF-8 at {bad} places, which were replaced")),
        };
    }
    let text = bytes.iter().filter_map(|byte| windows_1252(*byte)).collect();
    DecodedText { text, note: Some("not UTF-8: read as Windows-1252".to_owned()) }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> DecodedText {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|pair| unit(*pair));
    let mut bad = rest.len();
    let mut text = String::with_capacity(bytes.len());
    for letter in char::decode_utf16(units) {
        bad += usize::from(letter.is_err());
        text.push(letter.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    let note = (bad > 0).then(|| format!("not valid UTF-16 at {bad} places, which were replaced"));
    DecodedText { text, note }
}

/// Decodes one byte, or returns `None` if Windows-1252 does not define it.
fn windows_1252(byte: u8) -> Option<char> {
    /// The characters where Latin-1 has control characters.
    const HIGH: [char; 32] = [
        '€', '\0', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\0', 'Ž', '\0', '\0',
        '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\0', 'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9f => Some(HIGH[usize::from(byte - 0x80)]).filter(|letter| *letter != '\0'),
        _ => Some(char::from(byte)),
    }
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
        assert!(is_utf16(&little) && is_utf16(&big) && !is_utf16(b"plain"));
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
