//! Encodes text for a header: plain where every intermediary preserves it, otherwise base64 between
//! markers.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::string;

const OPEN: &str = "=?base64?";
const CLOSE: &str = "?=";

/// Encodes `text` as a header value.
pub fn encode(text: &str) -> Cow<'_, str> {
    match is_plain(text) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(format!("{OPEN}{}{CLOSE}", STANDARD.encode(text))),
    }
}

/// Decodes a header value. Returns `None` if it is neither plain text nor well-formed base64.
pub fn decode(value: &[u8]) -> Option<Cow<'_, str>> {
    let value = std::str::from_utf8(value).ok()?;
    match value.strip_prefix(OPEN).and_then(|rest| rest.strip_suffix(CLOSE)) {
        Some(encoded) => {
            let bytes = STANDARD.decode(encoded).ok()?;
            String::from_utf8(bytes).ok().map(Cow::Owned)
        }
        None => Some(Cow::Borrowed(value)),
    }
}

/// Returns true if a header value and a raw JSON string decode to the same text.
pub fn matches_json_string(value: &[u8], raw: &[u8]) -> bool {
    // Nearly every name is spelled the same in both, so compare the bytes first.
    let alike = raw.get(1..raw.len().saturating_sub(1)) == Some(value);
    let plain = alike && !value.starts_with(OPEN.as_bytes()) && !value.contains(&b'\\');
    plain || decode(value).is_some_and(|said| string::decode(raw).is_some_and(|name| name == said))
}

/// Returns true for visible ASCII with inner spaces that does not look like the encoded form.
fn is_plain(text: &str) -> bool {
    let visible = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let padded = text.starts_with(' ') || text.ends_with(' ');
    let marked = text.starts_with(OPEN) && text.ends_with(CLOSE);
    visible && !padded && !marked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_itself() {
        for text in ["", "tool", "a b", "=?base64?", "?="] {
            assert_eq!(encode(text), text);
        }
    }

    #[test]
    fn everything_else_is_encoded_and_read_back() {
        for text in ["Zürich", " padded ", "a\tb", "line\nbreak", "=?base64?YQ==?=", "日本"] {
            let encoded = encode(text);
            assert!(encoded.starts_with(OPEN), "{encoded}");
            assert_eq!(decode(encoded.as_bytes()).as_deref(), Some(text));
        }
    }

    #[test]
    fn a_header_agrees_with_what_a_json_string_says() {
        let agreeing =
            [("tool", r#""tool""#), ("tool", r#""t\u006fol""#), ("=?base64?w7w=?=", "\"ü\"")];
        for (header, raw) in agreeing {
            assert!(matches_json_string(header.as_bytes(), raw.as_bytes()), "{header} {raw}");
        }
        let other = [("tool", r#""Tool""#), (r"t\u006fol", r#""t\u006fol""#), ("a", r#""""#)];
        for (header, raw) in other {
            assert!(!matches_json_string(header.as_bytes(), raw.as_bytes()), "{header} {raw}");
        }
        let sentinel = "=?base64?YQ==?=";
        assert!(matches_json_string(sentinel.as_bytes(), b"\"a\""));
        assert!(!matches_json_string(sentinel.as_bytes(), format!("\"{sentinel}\"").as_bytes()));
    }

    #[test]
    fn broken_base64_says_nothing() {
        assert_eq!(decode(b"=?base64?!!!?="), None);
        assert_eq!(decode(b"=?base64?/w==?="), None);
        assert_eq!(decode(b"\xff"), None);
        // The markers are case-sensitive: this is plain text.
        assert_eq!(decode(b"=?BASE64?YQ==?=").as_deref(), Some("=?BASE64?YQ==?="));
    }
}
