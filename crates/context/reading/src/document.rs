//! A document as a sequence of passages.
//!
//! Plain data: the parsers of the formats decide how to split a document.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A parsed document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedDocument {
    /// The title from the text, or from the file name.
    pub title: String,
    /// The passages in order, none of them empty.
    pub passages: Vec<Passage>,
    /// What was left out because the document is too large, as a message.
    pub truncation: Option<String>,
}

/// A piece of a document that can be read by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    /// The headings above it, outermost first, joined by ` > `; empty if there are none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub heading: String,
    /// The text as the document has it.
    pub text: String,
    /// The location in the document.
    #[serde(flatten)]
    pub place: PassageLocation,
}

/// The location of a passage in its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PassageLocation {
    /// The first and the last line, from 1.
    Lines(u32, u32),
    /// A page, from 1.
    Page(u32),
}

impl fmt::Display for PassageLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lines(first, last) if first == last => write!(f, "line {first}"),
            Self::Lines(first, last) => write!(f, "lines {first}-{last}"),
            Self::Page(page) => write!(f, "page {page}"),
        }
    }
}
