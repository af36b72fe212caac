//! Object keys of a message, compared by their decoded text.
//!
//! `"na\u006de"` is `name`. Two peers that disagree on that would read two different messages, so
//! duplicates are found on decoded keys. Small objects compare keys pairwise; larger ones use a
//! hash set, so that a hostile object costs linear time.

use std::{borrow::Cow, collections::HashSet};

use crate::string;

/// The number of keys above which a set replaces pairwise comparison.
const PAIRWISE: usize = 16;

/// An object key: the raw bytes between its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JsonKey<'a>(pub(crate) &'a [u8]);

impl<'a> JsonKey<'a> {
    /// Decodes the key. Invalid escapes would decode to nothing, but the scanner rejects them
    /// first.
    #[inline]
    pub(crate) fn decode(self) -> Cow<'a, [u8]> {
        if self.0.contains(&b'\\') {
            Cow::Owned(string::unescape(self.0).unwrap_or_default().into_bytes())
        } else {
            Cow::Borrowed(self.0)
        }
    }
}

/// The keys of the currently open objects, innermost last.
#[derive(Debug, Default)]
pub(crate) struct KeyStack<'a> {
    keys: Vec<JsonKey<'a>>,
    /// True if any key of the message contains an escape; nearly none does.
    escapes: bool,
}

/// The keys seen so far in one open object.
#[derive(Debug)]
pub(crate) struct ObjectKeys<'a> {
    base: usize,
    set: Option<HashSet<Cow<'a, [u8]>>>,
}

impl<'a> ObjectKeys<'a> {
    /// Inserts `key` into the set of a large object and returns true if it is new. `first` are the
    /// keys from before the object was large.
    #[cold]
    fn insert_among(&mut self, first: &[JsonKey<'a>], key: JsonKey<'a>) -> bool {
        let set = self.set.get_or_insert_with(|| first.iter().map(|key| key.decode()).collect());
        set.insert(key.decode())
    }
}

impl<'a> KeyStack<'a> {
    /// Starts an object.
    pub(crate) fn open(&mut self) -> ObjectKeys<'a> {
        ObjectKeys { base: self.keys.len(), set: None }
    }

    /// Records that a key contains an escape, so that comparing spellings does not suffice.
    pub(crate) fn note_escape(&mut self) {
        self.escapes = true;
    }

    /// Adds `key` to the object and returns true if it is new.
    #[inline]
    pub(crate) fn insert(&mut self, seen: &mut ObjectKeys<'a>, key: JsonKey<'a>) -> bool {
        let known = self.keys.get(seen.base..).unwrap_or_default();
        if known.len() == PAIRWISE {
            return seen.insert_among(known, key);
        }
        let same =
            |other: &JsonKey<'_>| *other == key || (self.escapes && other.decode() == key.decode());
        let new = !known.iter().any(same);
        if self.keys.capacity() == 0 {
            // One allocation suffices for nearly every message.
            self.keys.reserve(2 * PAIRWISE);
        }
        self.keys.push(key);
        new
    }

    /// Ends an object.
    pub(crate) fn close(&mut self, seen: ObjectKeys<'a>) {
        self.keys.truncate(seen.base);
    }
}
