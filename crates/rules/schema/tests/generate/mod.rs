//! Makes tool schemas, ordinary and odd, and argument objects for any schema.
//!
//! The objects are aimed at fitting, with mistakes strewn in; which of them do fit is for a
//! validator to say. Everything follows from a seed. Shared by the tests of this crate and the
//! end-to-end tests, so it uses nothing but `serde_json`.

#![allow(dead_code, reason = "each test program uses its part")]

pub mod objects;
pub mod schemas;

/// A small generator of random numbers (SplitMix64), the same everywhere.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end.max(1)).unwrap()).unwrap()
    }

    /// True so many times in a hundred.
    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// One of these.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// Patterns with a text that matches each.
pub const PATTERNS: &[(&str, &str)] = &[
    ("^[a-z]+$", "abc"),
    ("^\\d{4}-\\d{2}$", "2024-05"),
    ("^(?!x).*$", "yes"),
    ("a|b", "a"),
    ("^(a)\\1$", "aa"),
    ("", ""),
];
