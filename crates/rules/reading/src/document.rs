//! A document as its passages.
//!
//! Plain data: how a document comes apart is said where each format is read.

/// What a document says, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// What it calls itself, or what its name says.
    pub title: String,
    /// Its pieces, none of them empty.
    pub passages: Vec<Passage>,
    /// What was left out because the document is too large, in words; none: it is all there.
    pub cut: Option<String>,
}

/// A piece of a document that can be read by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The headings it stands under, outermost first, joined by ` > `; empty where there are none.
    pub heading: String,
    /// The text, as it stands in the document.
    pub text: String,
    /// Where it stands.
    pub place: Place,
}

/// Where a passage stands in its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Its first and last line, from 1.
    Lines {
        /// The first.
        first: u32,
        /// The last.
        last: u32,
    },
    /// Its page, from 1.
    Page(u32),
}
