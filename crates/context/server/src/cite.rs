//! Quotations: verbatim spans of passages with their exact location.

use std::fmt::Write as _;

use serde::Serialize;
use toolgate_extraction::{PassageSpan, SourcePassage};

use crate::passage::{QuotedPassage, fence, single_line};

/// A verbatim span of a passage.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PassageQuote {
    /// The quoted text.
    pub text: String,
    /// The ID of the passage.
    pub passage: i64,
    /// The key of its document.
    pub source: String,
    /// The location of the passage in its document.
    pub place: String,
    /// The trust of the document: `trusted` or `untrusted`.
    pub trust: &'static str,
    /// The start within the passage's text, in characters.
    pub start: usize,
    /// The end (exclusive), in characters.
    pub end: usize,
}

impl PassageQuote {
    /// Returns the quotation for a span, or `None` if the span is not within these passages.
    pub(crate) fn from_span(span: PassageSpan, passages: &[QuotedPassage]) -> Option<Self> {
        let passage = passages.get(span.passage)?;
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

/// Returns the text of a span.
pub(crate) fn span_text(span: PassageSpan, passages: &[QuotedPassage]) -> Option<String> {
    let text = passages.get(span.passage)?.text.get(span.start..span.end)?;
    Some(text.to_owned())
}

/// Counts characters (Unicode scalar values). Offsets use this unit because it is the same in every
/// programming language, and JSON Schema measures strings by it.
pub(crate) fn characters(text: &str) -> usize {
    text.chars().count()
}

/// Converts passages to the input of the extraction functions.
pub(crate) fn source_passages<'a>(passages: &'a [QuotedPassage]) -> Vec<SourcePassage<'a>> {
    let convert = |it: &'a QuotedPassage| SourcePassage {
        title: &it.title,
        path: &it.source,
        heading: &it.heading,
        text: &it.text,
        score: it.score,
    };
    passages.iter().map(convert).collect()
}

/// Formats the details of a quotation: its kind, and what is stated.
pub(crate) fn details_text(kind: &str, stated: &[(&str, &Option<String>)]) -> String {
    let stated =
        stated.iter().filter_map(|(what, it)| Some(format!("; {what}: {}", (*it).as_ref()?)));
    std::iter::once(kind.to_owned()).chain(stated).collect()
}

/// Formats quotations as a list with their details, between marks that the text cannot close.
pub(crate) fn format_quotes(notice: &str, quotes: &[(&PassageQuote, String)]) -> String {
    if quotes.is_empty() {
        return notice.to_owned();
    }
    let mut list = String::new();
    for (quote, known) in quotes {
        let (words, known, source) =
            (single_line(&quote.text), single_line(known), single_line(&quote.source));
        // Writing to a String cannot fail.
        let _ = writeln!(list, "- {words} ({known}) [{source}, {}, {}]", quote.place, quote.trust);
    }
    let marks = fence(std::iter::once(&list));
    let (open, close) = ("<".repeat(marks), ">".repeat(marks));
    format!("{notice}\n\n{open} quoted text\n{list}{close} end of quoted text")
}
