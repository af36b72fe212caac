//! Letters and stems of words, for every index and comparison of words.
//!
//! The search for tools and the local context use the same folding and the same stemmers.

pub mod fold;
pub mod stem;
