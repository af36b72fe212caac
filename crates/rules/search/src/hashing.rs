//! Hash tables of built-in words and phrases, keyed by a hash that is computed once.
//!
//! Only built-in entries are inserted. A server's word with the hash of a built-in one, by chance
//! or by intent, is mistaken for it and affects only that server's ranking.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map keyed by hashes.
pub(crate) type HashKeyMap<V> = HashMap<u64, V, BuildHasherDefault<IdentityHasher>>;

/// A set of hashes.
pub(crate) type HashKeySet = HashSet<u64, BuildHasherDefault<IdentityHasher>>;

/// Returns a hash of a word that is the same in every process.
pub(crate) fn hash(word: &str) -> u64 {
    word.bytes().fold(0xcbf2_9ce4_8422_2325, |state, byte| {
        (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The hash of an empty phrase.
pub(crate) const EMPTY_PHRASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the hash of a phrase extended by one word.
pub(crate) fn combine_hashes(phrase: u64, word: u64) -> u64 {
    (phrase.rotate_left(23) ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd)
}

/// A hasher for keys that are hashes already.
#[derive(Default)]
pub(crate) struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |state, &byte| combine_hashes(state, u64::from(byte)));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
