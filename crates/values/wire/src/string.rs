//! Decodes and encodes JSON strings.

use std::borrow::Cow;

use serde_json::Value;

/// Decodes a raw JSON string, quotes included. Returns `None` if `raw` is not a string.
///
/// Borrows unless the string contains an escape.
pub fn decode(raw: &[u8]) -> Option<Cow<'_, str>> {
    let body = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if memchr::memchr(b'\\', body).is_some() {
        return serde_json::from_slice(raw).ok().map(Cow::Owned);
    }
    std::str::from_utf8(body).ok().map(Cow::Borrowed)
}

/// Encodes `text` as a JSON string, quotes included.
pub fn encode(text: &str) -> String {
    Value::from(text).to_string()
}

/// Decodes the bytes between the quotes of a JSON string.
pub(crate) fn unescape(body: &[u8]) -> Option<String> {
    let quoted = [b"\"", body, b"\""].concat();
    serde_json::from_slice(&quoted).ok()
}
