//! The input of all extractions, and the spans that results use to refer to it.

/// A passage to extract from.
#[derive(Debug, Clone, Copy)]
pub struct SourcePassage<'a> {
    /// The title of its document.
    pub title: &'a str,
    /// The path or URI of its document, as far as it tells the subject; can be empty.
    pub path: &'a str,
    /// The headings above it.
    pub heading: &'a str,
    /// Its text.
    pub text: &'a str,
    /// The search score; higher is better.
    pub score: f64,
}

/// A span of one of the given passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PassageSpan {
    /// The index of the passage.
    pub passage: usize,
    /// The start, in bytes.
    pub start: usize,
    /// The end (exclusive), in bytes.
    pub end: usize,
}

impl PassageSpan {
    /// Returns the text of the span, or an empty string if it does not fit these passages.
    pub fn text_in<'a>(&self, passages: &[SourcePassage<'a>]) -> &'a str {
        passages
            .get(self.passage)
            .and_then(|passage| passage.text.get(self.start..self.end))
            .unwrap_or("")
    }
}
