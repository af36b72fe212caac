//! Tables of what is built in (words, phrases), looked up by a hash that is computed once.
//!
//! Only built-in entries are put in, so a word of a server that happens to share a hash with one
//! of them, or is made to, is taken for it and harms its own ranking only.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A table by hash.
pub(crate) type Table<V> = HashMap<u64, V, BuildHasherDefault<Already>>;

/// A set of hashes.
pub(crate) type Hashes = HashSet<u64, BuildHasherDefault<Already>>;

/// A hash of a word that is the same in every process.
pub(crate) fn hash(word: &str) -> u64 {
    word.bytes().fold(0xcbf2_9ce4_8422_2325, |state, byte| {
        (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The hash of nothing, to begin a phrase with.
pub(crate) const NOTHING: u64 = 0x9e37_79b9_7f4a_7c15;

/// The hash of a phrase and one more word.
pub(crate) fn and(phrase: u64, word: u64) -> u64 {
    (phrase.rotate_left(23) ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd)
}

/// Takes a number that is a hash already for its own.
#[derive(Default)]
pub(crate) struct Already(u64);

impl Hasher for Already {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |state, &byte| and(state, u64::from(byte)));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
