//! Base64, as binary contents are sent: only what reading needs.

/// The bytes behind the text; `None` if it is not base64. White space and missing padding are
/// forgiven.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0_u32);
    let digits = text.trim_end().trim_end_matches('=').bytes();
    for byte in digits.filter(|byte| !byte.is_ascii_whitespace()) {
        bits = (bits << 6) | u32::from(digit(byte)?);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    // Six bits that are left over belong to a digit without its partner.
    (count < 6).then_some(bytes)
}

/// How many bytes the text stands for.
pub fn size(text: &str) -> usize {
    text.trim_end().trim_end_matches('=').len() * 3 / 4
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
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
        assert_eq!(size("Zm8="), 2);
        assert_eq!(size("Zm9vYmFy"), 6);
    }

    #[test]
    fn what_is_not_base64_is_refused() {
        for text in ["Z", "Zm9v!", "Zm=9"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
