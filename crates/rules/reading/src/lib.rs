//! Turns documents into passages: pieces of text along the document's own structure, each of which
//! knows its heading and its place.
//!
//! And makes the words of a text the terms an index knows it by, the same for what is kept and what
//! is asked. Nothing is opened here: whoever has the bytes brings them, and PDF comes as its pages.
//! Any text may come, however hostile: nothing here is nested as deep as a text likes, and all of it
//! costs what the text is long.

mod decode;
mod document;
mod format;
mod html;
mod lines;
mod markdown;
mod outline;
mod parting;
mod passages;
mod source;
pub mod terms;
mod text;
mod title;

use passages::{Kind, Passages, Places};

pub use decode::{Decoded, decode};
pub use document::{Document, Passage, Place};
pub use format::Format;

/// The passages of a document whose text this is. The name gives a title where the text has none.
/// (The text of a PDF is taken for plain text; its pages are for [`pages`].)
pub fn read(format: Format, name: &str, text: &str) -> Document {
    if format == Format::Html {
        return html::read(name, text);
    }
    let mut passages = Passages::new(text, Places::counted());
    let title = match format {
        Format::Markdown => markdown::read(text, &mut passages),
        Format::Source => source::read(text, &mut passages),
        Format::Text | Format::Pdf | Format::Html => text::read(text, &mut passages),
    };
    let (passages, cut) = passages.finish();
    Document { title: title.unwrap_or_else(|| title::of_name(name)), passages, cut }
}

/// The passages of a document that has pages.
pub fn pages(name: &str, pages: &[String]) -> Document {
    let mut document = Document { title: title::of_name(name), passages: Vec::new(), cut: None };
    for (page, number) in pages.iter().zip(1..) {
        let mut passages = Passages::new(page, Places::Page(number));
        passages.add(0..page.len(), "", Kind::Prose);
        document.passages.append(&mut passages.finish().0);
        if document.passages.len() >= passages::MOST {
            document.passages.truncate(passages::MOST);
            document.cut = Some(passages::left_out(document.passages.last()));
            break;
        }
    }
    document
}
