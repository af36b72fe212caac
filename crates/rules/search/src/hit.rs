//! The results of a search: a capability, its score, and the matches that explain it.

use std::fmt;

use toolgate_model::CapabilityId;
use toolgate_wire::words;

use crate::SearchField;

/// A capability that a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct CapabilityHit {
    /// The capability.
    pub id: CapabilityId,
    /// The score, comparable only within one result list.
    pub score: f32,
    /// The matches that explain the hit, in the order of the query.
    pub matches: Vec<TermMatch>,
}

/// A word of a capability that matched a word of the query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermMatch {
    /// The field of the capability.
    pub field: SearchField,
    /// The word in the capability.
    pub word: String,
    /// The word in the query.
    pub query_word: String,
    /// How the two words are related.
    pub kind: MatchKind,
}

words! {
    /// How a word of a capability is related to a word of the query.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum MatchKind {
        /// The same word.
        Exact = "exact",
        /// Another form of the word.
        Stem = "form",
        /// A synonym.
        Synonym = "synonym",
        /// A word of the same topic.
        Topic = "topic",
        /// A word for a value of this form, such as a URL or a file name.
        Pattern = "pattern",
        /// A part of a compound, or the compound of two words.
        Part = "part",
        /// The probable word behind a typing error.
        Typo = "typo",
    }
}

impl fmt::Display for TermMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.field, self.word)?;
        match self.kind {
            MatchKind::Exact => Ok(()),
            how => write!(f, " for {:?} ({how})", self.query_word),
        }
    }
}
