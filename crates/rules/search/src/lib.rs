//! Finds capabilities by what a user wants to do, and estimates what they cost a model in tokens.
//!
//! The search is lexical: an index in memory, updated one server at a time, and a ranking that
//! explains which words of which fields matched. The caller of [`CapabilityIndex::search`] decides
//! which capabilities are visible.
//!
//! `words` splits a text, `stem` removes endings, `lexicon` adds synonyms. An [`IndexedCapability`]
//! is read from a definition, the [`CapabilityIndex`] maps terms to documents, `query` parses a
//! request, `rank` scores, `explain` explains the matches. `weights` contains all tuned numbers.

mod analysis;
mod definition;
mod entities;
mod explain;
mod focus;
mod hashing;
mod hit;
mod index;
mod indexed_capability;
mod intent;
mod lexicon;
mod postings;
mod query;
mod rank;
mod similar_words;
mod terms;
pub mod tokens;
mod weights;
mod word_info;
mod words;

pub use hit::{CapabilityHit, MatchKind, TermMatch};
pub use index::CapabilityIndex;
pub use indexed_capability::{IndexedCapability, SearchField};
