//! Binary contents as servers send them: base64, read with some forbearance.

use base64::alphabet;
use base64::engine::{DecodePaddingMode, Engine, GeneralPurpose, GeneralPurposeConfig};

/// Servers forget the padding, and leave bits behind it.
const READER: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The bytes behind the text; `None` if it is not base64. White space, missing padding and the
/// alphabet of URLs are forgiven.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let standard = digits.map(|byte| match byte {
        b'-' => b'+',
        b'_' => b'/',
        byte => byte,
    });
    READER.decode(standard.collect::<Vec<u8>>()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_texts_decode() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("Zg==", b"f"),
            ("Zm8=", b"fo"),
            ("Zm9v", b"foo"),
            ("Zm9vYmFy", b"foobar"),
            ("/+8A", &[0xff, 0xef, 0x00]),
            ("Zm9v\nYmFy\n", b"foobar"),
        ] {
            assert_eq!(decode(text).as_deref(), Some(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_not_base64_is_refused() {
        for text in ["Z", "Zm9v!", "Zm=9"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
