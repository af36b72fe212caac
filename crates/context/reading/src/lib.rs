//! Splits documents into passages along their own structure, each with its headings and its
//! location, and converts text to the terms of an index, the same way for documents and queries.
//!
//! This crate opens no file: callers provide the text, and the pages of a PDF. The input can be
//! hostile: no parser recurses into nested text, and all take linear time.

mod decode;
mod document;
mod format;
mod html;
mod lines;
mod markdown;
mod outline;
mod passage_builder;
mod section_builder;
mod source;
mod splitting;
pub mod terms;
mod text;
mod title;

use passage_builder::{BlockSplitting, PassageBuilder, PassageLocationTracker};
use section_builder::SectionBuilder;

pub use decode::{DecodedText, decode};
pub use document::{ParsedDocument, Passage, PassageLocation};
pub use format::DocumentFormat;

/// Splits a document into passages. The name provides a title if the text has none. Text of a PDF
/// is treated as plain text; use [`pages`] for its pages.
pub fn read(format: DocumentFormat, name: &str, text: &str) -> ParsedDocument {
    if format == DocumentFormat::Html {
        return html::read(name, text);
    }
    let mut sections = SectionBuilder::new(PassageLocationTracker::counted());
    let title = match format {
        DocumentFormat::Markdown => markdown::read(text, &mut sections),
        DocumentFormat::Source => source::read(text, &mut sections.passages),
        _ => text::read(text, &mut sections),
    };
    sections.finish(text, title.unwrap_or_else(|| title::title_from_name(name)))
}

/// Splits a document with pages into passages.
pub fn pages(name: &str, pages: &[String]) -> ParsedDocument {
    let title = title::title_from_name(name);
    let mut document = ParsedDocument { title, passages: Vec::new(), truncation: None };
    for (page, number) in pages.iter().zip(1..) {
        let mut passages = PassageBuilder::new(PassageLocationTracker::Page(number));
        passages.add(page, 0..page.len(), "", BlockSplitting::Prose);
        document.passages.append(&mut passages.finish(page, String::new()).passages);
        if document.passages.len() >= passage_builder::MOST {
            document.passages.truncate(passage_builder::MOST);
            document.truncation = Some(passage_builder::truncation_note(document.passages.last()));
            break;
        }
    }
    document
}
