//! Keys of objects as they stand in the message, compared by what they decode to.
//!
//! `"na\u006de"` is `name`: two peers that disagree on that would read two different messages, so
//! duplicates are found on decoded keys. Small objects compare pairwise; larger ones go through a
//! hash set, so a hostile object costs linear time.

use std::{borrow::Cow, collections::HashSet};

use crate::string;

/// Above this many keys, pairwise comparison gives way to a set.
const PAIRWISE: usize = 16;

/// A key: the bytes between its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key<'a>(pub(crate) &'a [u8]);

impl<'a> Key<'a> {
    /// What the key says; invalid escapes, which the scanner has refused, would decode to nothing.
    #[inline]
    pub(crate) fn decoded(self) -> Cow<'a, [u8]> {
        if self.0.contains(&b'\\') {
            Cow::Owned(string::unescape(self.0).unwrap_or_default().into_bytes())
        } else {
            Cow::Borrowed(self.0)
        }
    }
}

/// The keys of the objects that are open at the moment, innermost last.
#[derive(Debug, Default)]
pub(crate) struct OpenKeys<'a> {
    keys: Vec<Key<'a>>,
    /// Whether any key of the message holds an escape; nearly none does.
    escapes: bool,
}

/// What is known of the keys of one open object.
#[derive(Debug)]
pub(crate) struct Seen<'a> {
    base: usize,
    set: Option<HashSet<Cow<'a, [u8]>>>,
}

impl<'a> Seen<'a> {
    /// The same question for a large object; `first` are the keys from before it was large.
    #[cold]
    fn insert_among(&mut self, first: &[Key<'a>], key: Key<'a>) -> bool {
        let set = self.set.get_or_insert_with(|| first.iter().map(|key| key.decoded()).collect());
        set.insert(key.decoded())
    }
}

impl<'a> OpenKeys<'a> {
    /// An object begins.
    pub(crate) fn open(&mut self) -> Seen<'a> {
        Seen { base: self.keys.len(), set: None }
    }

    /// Some key of the message holds an escape, so that comparing spellings is not enough.
    pub(crate) fn note_escape(&mut self) {
        self.escapes = true;
    }

    /// Whether `key` is new in the object.
    #[inline]
    pub(crate) fn insert(&mut self, seen: &mut Seen<'a>, key: Key<'a>) -> bool {
        let known = self.keys.get(seen.base..).unwrap_or_default();
        if known.len() == PAIRWISE {
            return seen.insert_among(known, key);
        }
        let same =
            |other: &Key<'_>| *other == key || (self.escapes && other.decoded() == key.decoded());
        let new = !known.iter().any(same);
        if self.keys.capacity() == 0 {
            // Enough for nearly every message, in one allocation.
            self.keys.reserve(2 * PAIRWISE);
        }
        self.keys.push(key);
        new
    }

    /// The object ends.
    pub(crate) fn close(&mut self, seen: Seen<'a>) {
        self.keys.truncate(seen.base);
    }
}
