//! HTML: its text, without what is not read (scripts, styles, navigation), under its headings.
//!
//! The text is decoded, and its lines are those of the file. Elements are not made into a tree: a
//! page may nest them as deep as it likes. The few that matter while they are open are counted.

pub(crate) mod entities;
mod page;
mod tokens;

use page::{Block, Page};
use tokens::{Token, Tokens};

use crate::passages::{self, Passages, Places};
use crate::{Document, title};

/// Elements whose content is no HTML.
const RAW: [&str; 7] = ["script", "style", "title", "textarea", "xmp", "iframe", "noembed"];

/// Elements that say nothing about the page's matter.
const DROPPED: [&str; 6] = ["nav", "svg", "template", "object", "select", "datalist"];

/// Where an element that is dropped ends though nobody closed it.
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

/// The passages of a page.
pub(crate) fn read(name: &str, text: &str) -> Document {
    let mut reader = Reader { page: Page::default(), tokens: Tokens::new(text), dropped: None };
    reader.read();
    let Reader { page, .. } = reader;
    let finished = page.finish();
    let places = Places::Marked { marks: finished.marks, at: 0 };
    let mut made = Passages::new(&finished.text, places);
    for Block { range, heading, kind } in finished.blocks {
        made.add(range, &finished.headings[heading], kind);
    }
    let (passages, cut) = made.finish();
    let cut = cut.or_else(|| finished.is_cut.then(|| passages::left_out(passages.last())));
    let title = finished.title.unwrap_or_else(|| title::of_name(name));
    Document { title, passages, cut }
}

struct Reader<'a> {
    page: Page,
    tokens: Tokens<'a>,
    /// The element that is dropped, and how many of its name are open.
    dropped: Option<(&'static str, usize)>,
}

impl Reader<'_> {
    fn read(&mut self) {
        while let Some((token, taken)) = self.tokens.next() {
            if self.page.is_full() {
                break;
            }
            match token {
                Token::Text(text) if self.dropped.is_none() => self.page.text(text),
                Token::Open(name, is_closed) => self.open(name, is_closed, taken),
                Token::Close(name) => self.close(name, taken),
                Token::Text(_) | Token::Other(_) => self.page.pass(taken),
            }
        }
    }

    fn open(&mut self, name: &str, is_closed: bool, taken: &str) {
        self.page.pass(taken);
        let low = lower(name);
        let name = low.as_str();
        if RAW.contains(&name) && !is_closed {
            let content = self.tokens.raw(name);
            if name == "title" && self.dropped.is_none() {
                self.page.title(content);
            }
            return self.page.pass(content);
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
            "br" => self.page.line(),
            "li" | "tr" => {
                self.page.line();
                if name == "li" {
                    self.page.item();
                }
            }
            "td" | "th" => self.page.cell(),
            "pre" => self.page.listing(),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.page.heading(level(name)),
            _ if BLOCKS.contains(&name) => self.page.end(),
            _ => {}
        }
    }

    fn close(&mut self, name: &str, taken: &str) {
        self.page.pass(taken);
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

/// A name in lower case; of one that is too long for any element, its beginning.
fn lower(name: &str) -> String {
    name[..name.len().min(16)].to_ascii_lowercase()
}

fn level(name: &str) -> usize {
    name.bytes().last().map_or(6, |digit| usize::from(digit - b'0'))
}

#[cfg(test)]
mod tests;
