//! Spans of passages as they are given back: words, and where exactly they stand.

use std::fmt::Write as _;

use serde::Serialize;
use toolgate_gleaning::{Leaf, Span};

use crate::passage::{Passage, fence, line};

/// Words of a passage, verbatim.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Quote {
    /// The words.
    pub text: String,
    /// The passage.
    pub passage: i64,
    /// Its document.
    pub source: String,
    /// Where the passage stands in it.
    pub place: String,
    /// Whose word it is.
    pub trust: &'static str,
    /// The first character, counted within the passage's text.
    pub start: usize,
    /// The one behind the last.
    pub end: usize,
}

impl Quote {
    /// What a span of these passages says; none if it is no span of them.
    pub(crate) fn of(span: Span, passages: &[Passage]) -> Option<Self> {
        let passage = passages.get(span.leaf)?;
        let text = passage.text.get(span.start..span.end)?;
        let start = characters(passage.text.get(..span.start)?);
        Some(Self {
            text: text.to_owned(),
            passage: passage.id,
            source: passage.source.clone(),
            place: passage.place.clone(),
            trust: passage.trust,
            start,
            end: start + characters(text),
        })
    }
}

/// The words of a span.
pub(crate) fn words(span: Span, passages: &[Passage]) -> Option<String> {
    let text = passages.get(span.leaf)?.text.get(span.start..span.end)?;
    Some(text.to_owned())
}

/// How offsets are counted: in characters, the same in every language a client is written in, as
/// JSON Schema counts the length of a string.
pub(crate) fn characters(text: &str) -> usize {
    text.chars().count()
}

/// Passages as what is gleaned from.
pub(crate) fn leaves<'a>(passages: &'a [Passage]) -> Vec<Leaf<'a>> {
    let leaf = |it: &'a Passage| Leaf {
        title: &it.title,
        path: &it.source,
        heading: &it.heading,
        text: &it.text,
        score: it.score,
    };
    passages.iter().map(leaf).collect()
}

/// Quotes as text, each with what is known of it beside its words, all between marks.
pub(crate) fn listed(notice: &str, quotes: &[(&Quote, String)]) -> String {
    if quotes.is_empty() {
        return notice.to_owned();
    }
    let mut list = String::new();
    for (quote, known) in quotes {
        let (said, known, source) = (line(&quote.text), line(known), line(&quote.source));
        // Writing to a String cannot fail.
        let _ = writeln!(list, "- {said} ({known}) [{source}, {}, {}]", quote.place, quote.trust);
    }
    let marks = fence(std::iter::once(&list));
    let (open, close) = ("<".repeat(marks), ">".repeat(marks));
    format!("{notice}\n\n{open} quoted text\n{list}{close} end of quoted text")
}
