//! Parses HTML: its visible text under its headings, without scripts, styles and navigation.
//!
//! Passages contain decoded text with line numbers of the file. No tree is built, because a page
//! can nest elements arbitrarily deep; the parser only counts the few open elements that matter.

mod page;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use page::HtmlPage;

use crate::{ParsedDocument, title};

/// Elements without relevant content. The tokenizer does not look for tags in most of them.
const DROPPED: [&str; 13] = [
    "datalist", "iframe", "nav", "noembed", "noscript", "object", "script", "select", "style",
    "svg", "template", "textarea", "xmp",
];

/// Elements that end a dropped element that was never closed.
const CONTENT: [&str; 4] = ["main", "article", "h1", "body"];

/// Elements that begin and end a paragraph.
const BLOCKS: &str = " address article aside blockquote body center dd details dialog div dl dt \
    fieldset figcaption figure footer form head header hr html legend main menu ol p section \
    summary table tbody tfoot thead ul ";

/// Parses a page.
pub(crate) fn read(name: &str, text: &str) -> ParsedDocument {
    // The tokenizer treats a carriage return as the end of a line, and we do not.
    let text = text.replace('\r', "");
    let mut reader = HtmlReader::default();
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, span: Span<usize>| {
        // An error is reported before the text that it is in.
        if !matches!(event, CallbackEvent::Error(_)) {
            reader.skip_to(&text, span.start);
            reader.event(event);
        }
        reader.page.is_full().then_some(())
    });
    emitter.naively_switch_states(true);
    // The first item says that the page is full.
    let _ = Tokenizer::new_with_emitter(text.as_str(), emitter).next();
    reader.page.finish(|| title::title_from_name(name))
}

/// Turns the events of a tokenizer into text and headings.
#[derive(Default)]
struct HtmlReader {
    page: HtmlPage,
    /// How much of the source was read.
    at: usize,
    /// The name of the start tag that is being read.
    tag: String,
    is_title: bool,
    /// The name of the dropped element, and how many elements of that name are open.
    dropped: Option<(&'static str, usize)>,
}

impl HtmlReader {
    /// Counts the lines up to this offset.
    fn skip_to(&mut self, source: &str, at: usize) {
        let skipped = source.as_bytes().get(self.at..at).unwrap_or_default();
        self.page.add_lines(skipped);
        self.at = self.at.max(at);
    }

    fn event(&mut self, event: CallbackEvent<'_>) {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.tag = String::from_utf8_lossy(name).into_owned();
            }
            CallbackEvent::CloseStartTag { self_closing } => {
                let tag = std::mem::take(&mut self.tag);
                self.open(&tag, self_closing);
            }
            CallbackEvent::EndTag { name } => self.close(&String::from_utf8_lossy(name)),
            CallbackEvent::String { value } if self.dropped.is_none() => {
                let text = String::from_utf8_lossy(value);
                if self.is_title {
                    self.page.set_title(&text);
                } else {
                    self.page.add_text(&text);
                }
            }
            _ => {}
        }
    }

    fn open(&mut self, name: &str, is_closed: bool) {
        if let Some((dropped, depth)) = &mut self.dropped {
            if CONTENT.contains(&name) {
                self.dropped = None;
            } else {
                *depth += usize::from(*dropped == name && !is_closed);
                return;
            }
        }
        if let Some(dropped) = DROPPED.iter().find(|it| **it == name).filter(|_| !is_closed) {
            self.page.end_block();
            self.dropped = Some((dropped, 1));
            return;
        }
        match name {
            "title" => self.is_title = true,
            "br" => self.page.start_line(),
            "li" | "tr" => {
                self.page.start_line();
                if name == "li" {
                    self.page.start_item();
                }
            }
            "td" | "th" => self.page.start_cell(),
            "pre" => self.page.start_listing(),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.page.start_heading(usize::from(name.as_bytes()[1] - b'0'));
            }
            _ if is_block(name) => self.page.end_block(),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        self.is_title = false;
        if let Some((dropped, depth)) = &mut self.dropped {
            *depth -= usize::from(*dropped == name);
            if *depth == 0 || name == "header" || name == "body" {
                self.dropped = None;
            }
            return;
        }
        match name {
            "pre" => self.page.end_listing(),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.page.end_heading(),
            _ if is_block(name) => self.page.end_block(),
            _ => {}
        }
    }
}

fn is_block(name: &str) -> bool {
    BLOCKS.split(' ').any(|block| block == name)
}

#[cfg(test)]
mod tests;
