//! Request ids and progress tokens: a string or an integer, spelled as received.
//!
//! Equality is type-exact: `1` is not `"1"`. Strings are equal if they decode to the same text,
//! integers if they are spelled the same.

use std::{
    borrow::Cow,
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use crate::string;

/// A request id borrowed from a message.
#[derive(Clone, Copy)]
pub struct RequestId<'a> {
    raw: &'a str,
}

impl<'a> RequestId<'a> {
    /// Reads the raw JSON of an id; `raw` must be valid JSON. Returns `None` for anything but a
    /// string or an integer (`null`, `1.0`, `1e3`, `true`).
    pub fn from_raw(raw: &'a [u8]) -> Option<Self> {
        let digits = raw.strip_prefix(b"-").unwrap_or(raw);
        let integer = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
        let text = raw.len() >= 2 && raw.starts_with(b"\"") && raw.ends_with(b"\"");
        if !integer && !text {
            return None;
        }
        Some(Self { raw: std::str::from_utf8(raw).ok()? })
    }

    /// Returns the id as raw JSON, including the quotes of a string.
    pub fn raw(self) -> &'a str {
        self.raw
    }

    /// Returns the id as a number if it is one and fits `u64`.
    pub fn as_u64(self) -> Option<u64> {
        self.raw.parse().ok()
    }

    /// Returns the decoded text if the id is a string.
    pub fn as_text(self) -> Option<Cow<'a, str>> {
        string::decode(self.raw.as_bytes())
    }

    /// Returns a copy that outlives the message.
    pub fn to_owned(self) -> OwnedRequestId {
        OwnedRequestId { raw: self.raw.into() }
    }

    /// Returns the key for equality and hashing. A string and an integer never share a key.
    fn comparison_key(self) -> (bool, Cow<'a, str>) {
        match self.as_text() {
            Some(text) => (true, text),
            None => (false, Cow::Borrowed(self.raw)),
        }
    }
}

impl PartialEq for RequestId<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw || self.comparison_key() == other.comparison_key()
    }
}

impl Eq for RequestId<'_> {}

impl Hash for RequestId<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.comparison_key().hash(state);
    }
}

impl fmt::Display for RequestId<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.raw)
    }
}

impl fmt::Debug for RequestId<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.raw)
    }
}

/// An owned request id; cheap to clone.
#[derive(Clone)]
pub struct OwnedRequestId {
    raw: Arc<str>,
}

impl OwnedRequestId {
    /// Makes a string id from `text`.
    pub fn from_text(text: &str) -> Self {
        Self { raw: string::encode(text).into() }
    }

    /// Borrows the id.
    pub fn as_borrowed(&self) -> RequestId<'_> {
        RequestId { raw: &self.raw }
    }

    /// Returns the id as raw JSON, including the quotes of a string.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// Returns the id as a number if it is one and fits `u64`.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_borrowed().as_u64()
    }
}

impl From<u64> for OwnedRequestId {
    fn from(number: u64) -> Self {
        Self { raw: number.to_string().into() }
    }
}

impl From<RequestId<'_>> for OwnedRequestId {
    fn from(id: RequestId<'_>) -> Self {
        id.to_owned()
    }
}

impl PartialEq for OwnedRequestId {
    fn eq(&self, other: &Self) -> bool {
        self.as_borrowed() == other.as_borrowed()
    }
}

impl Eq for OwnedRequestId {}

impl PartialEq<RequestId<'_>> for OwnedRequestId {
    fn eq(&self, other: &RequestId<'_>) -> bool {
        self.as_borrowed() == *other
    }
}

impl Hash for OwnedRequestId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_borrowed().hash(state);
    }
}

impl fmt::Display for OwnedRequestId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.raw)
    }
}

impl fmt::Debug for OwnedRequestId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.raw)
    }
}
