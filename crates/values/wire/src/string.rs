//! JSON strings: what they say, and how to write one.

use std::borrow::Cow;

use serde_json::Value;

/// The text of a raw JSON string, quotes included; `None` if `raw` is not one.
///
/// Borrows unless there is an escape to resolve.
pub fn decode(raw: &[u8]) -> Option<Cow<'_, str>> {
    let body = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if memchr::memchr(b'\\', body).is_some() {
        return serde_json::from_slice(raw).ok().map(Cow::Owned);
    }
    std::str::from_utf8(body).ok().map(Cow::Borrowed)
}

/// The JSON string that says `text`, quotes included.
pub fn encode(text: &str) -> String {
    Value::from(text).to_string()
}

/// The text of the bytes between the quotes of a JSON string.
pub(crate) fn unescape(body: &[u8]) -> Option<String> {
    let quoted = [b"\"", body, b"\""].concat();
    serde_json::from_slice(&quoted).ok()
}
