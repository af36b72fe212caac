//! Parses HTML: its visible text under its headings, without scripts, styles and navigation.
//!
//! Passages contain decoded text with line numbers of the file. No tree is built, because a page
//! can nest elements arbitrarily deep; the parser only counts the few open elements that matter.

pub(crate) mod entities;
mod page;
mod tokenizer;

use page::{HtmlBlock, HtmlPageBuilder};
use tokenizer::{HtmlToken, HtmlTokenizer};

use crate::passage_builder::{self, LocationTracker, PassageBuilder};
use crate::{ParsedDocument, title};

/// Elements whose content is not HTML.
const RAW: [&str; 7] = ["script", "style", "title", "textarea", "xmp", "iframe", "noembed"];

/// Elements without relevant content.
const DROPPED: [&str; 6] = ["nav", "svg", "template", "object", "select", "datalist"];

/// Elements that end a dropped element that was never closed.
const CONTENT: [&str; 4] = ["main", "article", "h1", "body"];

/// Elements that begin and end a paragraph.
const BLOCKS: [&str; 33] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "center",
    "dd",
    "details",
    "dialog",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "hr",
    "html",
    "legend",
    "main",
    "menu",
    "ol",
    "p",
    "section",
    "summary",
    "table",
    "tbody",
    "tfoot",
    "thead",
    "ul",
    "head",
];

/// Parses a page.
pub(crate) fn read(name: &str, text: &str) -> ParsedDocument {
    let mut reader = HtmlParser {
        page: HtmlPageBuilder::default(),
        tokens: HtmlTokenizer::new(text),
        dropped: None,
    };
    reader.read();
    let HtmlParser { page, .. } = reader;
    let finished = page.finish();
    let places = LocationTracker::Marked { marks: finished.marks, at: 0 };
    let mut made = PassageBuilder::new(&finished.text, places);
    for HtmlBlock { range, heading, kind } in finished.blocks {
        made.add(range, &finished.headings[heading], kind);
    }
    let (passages, cut) = made.finish();
    let cut =
        cut.or_else(|| finished.is_cut.then(|| passage_builder::truncation_note(passages.last())));
    let title = finished.title.unwrap_or_else(|| title::title_from_name(name));
    ParsedDocument { title, passages, truncation: cut }
}

/// Parses the tokens of a page into blocks.
struct HtmlParser<'a> {
    page: HtmlPageBuilder,
    tokens: HtmlTokenizer<'a>,
    /// The name of the dropped element, and how many elements of that name are open.
    dropped: Option<(&'static str, usize)>,
}

impl HtmlParser<'_> {
    fn read(&mut self) {
        while let Some((token, taken)) = self.tokens.next() {
            if self.page.is_full() {
                break;
            }
            match token {
                HtmlToken::Text(text) if self.dropped.is_none() => self.page.add_text(text),
                HtmlToken::Open(name, is_closed) => self.open(name, is_closed, taken),
                HtmlToken::Close(name) => self.close(name, taken),
                HtmlToken::Text(_) | HtmlToken::Other(_) => self.page.skip(taken),
            }
        }
    }

    fn open(&mut self, name: &str, is_closed: bool, taken: &str) {
        self.page.skip(taken);
        let low = lower(name);
        let name = low.as_str();
        if RAW.contains(&name) && !is_closed {
            let content = self.tokens.take_raw(name);
            if name == "title" && self.dropped.is_none() {
                self.page.title(content);
            }
            return self.page.skip(content);
        }
        if let Some((dropped, depth)) = &mut self.dropped {
            if CONTENT.contains(&name) {
                self.dropped = None;
            } else {
                *depth += usize::from(*dropped == name && !is_closed);
                return;
            }
        }
        if let Some(dropped) = DROPPED.iter().find(|it| **it == name).filter(|_| !is_closed) {
            self.page.end();
            self.dropped = Some((dropped, 1));
            return;
        }
        self.begin(name);
    }

    fn begin(&mut self, name: &str) {
        match name {
            "br" => self.page.start_line(),
            "li" | "tr" => {
                self.page.start_line();
                if name == "li" {
                    self.page.start_item();
                }
            }
            "td" | "th" => self.page.start_cell(),
            "pre" => self.page.start_listing(),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.page.start_heading(level(name)),
            _ if BLOCKS.contains(&name) => self.page.end(),
            _ => {}
        }
    }

    fn close(&mut self, name: &str, taken: &str) {
        self.page.skip(taken);
        let low = lower(name);
        let name = low.as_str();
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
            _ if BLOCKS.contains(&name) => self.page.end(),
            _ => {}
        }
    }
}

/// Returns a name in lower case. A name that is too long for any element is truncated.
fn lower(name: &str) -> String {
    name[..name.len().min(16)].to_ascii_lowercase()
}

fn level(name: &str) -> usize {
    name.bytes().last().map_or(6, |digit| usize::from(digit - b'0'))
}

#[cfg(test)]
mod tests;
