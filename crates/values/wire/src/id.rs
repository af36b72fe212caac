//! Ids and progress tokens: a string or an integer, spelled as it came.
//!
//! Equality is type-exact: `1` is not `"1"`. Strings are equal when they decode to the same text,
//! integers when they are spelled the same.

use std::{
    borrow::Cow,
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use crate::string;

/// An id inside a message.
#[derive(Clone, Copy)]
pub struct Id<'a> {
    raw: &'a str,
}

impl<'a> Id<'a> {
    /// Reads the raw JSON of an id, already known to be valid JSON. Anything but a string or an
    /// integer (`null`, `1.0`, `1e3`, `true`) is no id.
    pub fn from_raw(raw: &'a [u8]) -> Option<Self> {
        let digits = raw.strip_prefix(b"-").unwrap_or(raw);
        let integer = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
        let text = raw.len() >= 2 && raw.starts_with(b"\"") && raw.ends_with(b"\"");
        if !integer && !text {
            return None;
        }
        Some(Self { raw: std::str::from_utf8(raw).ok()? })
    }

    /// The JSON spelling, quotes and all.
    pub fn raw(self) -> &'a str {
        self.raw
    }

    /// The number, if it is one that fits.
    pub fn as_u64(self) -> Option<u64> {
        self.raw.parse().ok()
    }

    /// The text, if it is a string.
    pub fn as_text(self) -> Option<Cow<'a, str>> {
        string::decode(self.raw.as_bytes())
    }

    /// A copy that outlives the message.
    pub fn to_owned(self) -> OwnedId {
        OwnedId { raw: self.raw.into() }
    }

    /// What equality and hash look at; a string and an integer never share one.
    fn class(self) -> (bool, Cow<'a, str>) {
        match self.as_text() {
            Some(text) => (true, text),
            None => (false, Cow::Borrowed(self.raw)),
        }
    }
}

impl PartialEq for Id<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw || self.class() == other.class()
    }
}

impl Eq for Id<'_> {}

impl Hash for Id<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.class().hash(state);
    }
}

impl fmt::Display for Id<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.raw)
    }
}

impl fmt::Debug for Id<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.raw)
    }
}

/// An id of its own; cheap to clone.
#[derive(Clone)]
pub struct OwnedId {
    raw: Arc<str>,
}

impl OwnedId {
    /// The id of a string.
    pub fn text(text: &str) -> Self {
        Self { raw: string::encode(text).into() }
    }

    /// The same id, borrowed.
    pub fn borrowed(&self) -> Id<'_> {
        Id { raw: &self.raw }
    }

    /// The JSON spelling, quotes and all.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The number, if it is one that fits.
    pub fn as_u64(&self) -> Option<u64> {
        self.borrowed().as_u64()
    }
}

impl From<u64> for OwnedId {
    fn from(number: u64) -> Self {
        Self { raw: number.to_string().into() }
    }
}

impl From<Id<'_>> for OwnedId {
    fn from(id: Id<'_>) -> Self {
        id.to_owned()
    }
}

impl PartialEq for OwnedId {
    fn eq(&self, other: &Self) -> bool {
        self.borrowed() == other.borrowed()
    }
}

impl Eq for OwnedId {}

impl PartialEq<Id<'_>> for OwnedId {
    fn eq(&self, other: &Id<'_>) -> bool {
        self.borrowed() == *other
    }
}

impl Hash for OwnedId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.borrowed().hash(state);
    }
}

impl fmt::Display for OwnedId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.raw)
    }
}

impl fmt::Debug for OwnedId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.raw)
    }
}
