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

/// A request id: its raw JSON, borrowed or owned.
#[derive(Clone, Copy)]
pub struct JsonRpcId<T> {
    raw: T,
}

/// A request id borrowed from a message.
pub type RequestId<'a> = JsonRpcId<&'a str>;

/// An owned request id; cheap to clone.
pub type OwnedRequestId = JsonRpcId<Arc<str>>;

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

    /// Returns a copy that outlives the message.
    pub fn to_owned(self) -> OwnedRequestId {
        OwnedRequestId { raw: self.raw.into() }
    }
}

impl<T: AsRef<str>> JsonRpcId<T> {
    /// Returns the id as raw JSON, including the quotes of a string.
    pub fn raw(&self) -> &str {
        self.raw.as_ref()
    }

    /// Returns the id as a number if it is one and fits `u64`.
    pub fn as_u64(&self) -> Option<u64> {
        self.raw().parse().ok()
    }

    /// Returns the decoded text if the id is a string.
    pub fn as_text(&self) -> Option<Cow<'_, str>> {
        string::decode(self.raw().as_bytes())
    }

    /// Returns the key for equality and hashing. A string and an integer never share a key.
    fn comparison_key(&self) -> (bool, Cow<'_, str>) {
        match self.as_text() {
            Some(text) => (true, text),
            None => (false, Cow::Borrowed(self.raw())),
        }
    }
}

impl<T: AsRef<str>, U: AsRef<str>> PartialEq<JsonRpcId<U>> for JsonRpcId<T> {
    fn eq(&self, other: &JsonRpcId<U>) -> bool {
        self.raw() == other.raw() || self.comparison_key() == other.comparison_key()
    }
}

impl<T: AsRef<str>> Eq for JsonRpcId<T> {}

impl<T: AsRef<str>> Hash for JsonRpcId<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.comparison_key().hash(state);
    }
}

impl<T: AsRef<str>> fmt::Debug for JsonRpcId<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.raw())
    }
}
