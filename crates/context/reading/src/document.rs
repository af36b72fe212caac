//! A document as a sequence of passages.
//!
//! Plain data: the parsers of the formats decide how to split a document.

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The headings above it, outermost first, joined by ` > `; empty if there are none.
    pub heading: String,
    /// The text as the document has it.
    pub text: String,
    /// The location in the document.
    pub place: PassageLocation,
}

/// The location of a passage in its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassageLocation {
    /// A range of lines, from 1.
    Lines {
        /// The first line.
        first: u32,
        /// The last line.
        last: u32,
    },
    /// A page, from 1.
    Page(u32),
}
