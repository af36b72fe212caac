//! What a search answers with: a capability, how well it fits, and why.

use std::fmt;

use toolgate_model::CapabilityId;

use crate::Field;

/// One capability that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// What was found.
    pub id: CapabilityId,
    /// How well it fits. Comparable within one answer only.
    pub score: f32,
    /// What in it met the query, in the order of the query.
    pub why: Vec<Match>,
}

/// One word of a capability that met a word of the query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// Where in the capability it stands.
    pub field: Field,
    /// The word in the capability.
    pub word: String,
    /// The word in the query.
    pub asked: String,
    /// How one stands for the other.
    pub how: How,
}

/// How a word of a capability stands for a word of the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum How {
    /// The same word.
    Exact,
    /// Another form of it.
    Stem,
    /// Another word for it.
    Synonym,
    /// A word of the same subject.
    Topic,
    /// What a thing of this form (an address, a file name) is about.
    Pattern,
    /// A part of a compound, or the compound of two words.
    Part,
    /// The word it was probably meant to be.
    Typo,
}

impl How {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Stem => "form",
            Self::Synonym => "synonym",
            Self::Topic => "topic",
            Self::Pattern => "pattern",
            Self::Part => "part",
            Self::Typo => "typo",
        }
    }
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.field, self.word)?;
        match self.how {
            How::Exact => Ok(()),
            how => write!(f, " for {:?} ({how})", self.asked),
        }
    }
}
