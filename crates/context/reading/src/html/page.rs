//! The text of a page with its blocks, and the lines of the file it comes from.

use std::ops::Range;

use super::entities;
use crate::outline::Outline;
use crate::passage_builder::{self, DocumentBlockKind};

/// The maximum amount of text of one page, in bytes: what its passages can hold.
const MOST_TEXT: usize = passage_builder::MOST * passage_builder::LONG;

/// The maximum number of blocks of one page.
const MOST_BLOCKS: usize = passage_builder::MOST * 16;

/// A block of text.
#[derive(Debug)]
pub(super) struct HtmlBlock {
    /// The byte range in the text.
    pub(super) range: Range<usize>,
    /// The index of its heading.
    pub(super) heading: usize,
    /// How it can be split.
    pub(super) kind: DocumentBlockKind,
}

/// A parsed page.
#[derive(Debug)]
pub(super) struct HtmlPage {
    /// The decoded text.
    pub(super) text: String,
    /// Offsets in the text, and the lines of the file that begin there.
    pub(super) marks: Vec<(usize, u32)>,
    /// The blocks in order.
    pub(super) blocks: Vec<HtmlBlock>,
    /// The headings.
    pub(super) headings: Vec<String>,
    /// The title, if there is one.
    pub(super) title: Option<String>,
    /// Whether text was left out.
    pub(super) is_cut: bool,
}

/// Builds a page from text and tags.
#[derive(Debug)]
pub(super) struct HtmlPageBuilder {
    text: String,
    marks: Vec<(usize, u32)>,
    blocks: Vec<HtmlBlock>,
    headings: Vec<String>,
    outline: Outline,
    title: Option<String>,
    first: Option<String>,
    /// The current line of the file.
    line: u32,
    /// The start of the current block.
    open: usize,
    /// The start of headings without text below them yet.
    lead: Option<usize>,
    /// The level and start of the open heading.
    heading: Option<(usize, usize)>,
    is_listing: bool,
    /// Whether a blank must precede the next word.
    needs_space: bool,
}

impl Default for HtmlPageBuilder {
    fn default() -> Self {
        Self {
            text: String::new(),
            marks: Vec::new(),
            blocks: Vec::new(),
            headings: vec![String::new()],
            outline: Outline::default(),
            title: None,
            first: None,
            line: 1,
            open: 0,
            lead: None,
            heading: None,
            is_listing: false,
            needs_space: false,
        }
    }
}

impl HtmlPageBuilder {
    /// Returns true if the page has reached a limit.
    pub(super) fn is_full(&self) -> bool {
        self.text.len() >= MOST_TEXT || self.blocks.len() >= MOST_BLOCKS
    }

    /// Skips source text, counting its lines.
    pub(super) fn skip(&mut self, taken: &str) {
        let ends = taken.bytes().filter(|byte| *byte == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(ends).unwrap_or(u32::MAX));
    }

    /// Adds text as it is written in the source.
    pub(super) fn add_text(&mut self, mut text: &str) {
        if self.is_listing {
            return self.verbatim(text);
        }
        while !text.is_empty() && !self.is_full() {
            let end = text.find([' ', '\n', '\t', '\r', '\u{c}']).unwrap_or(text.len());
            self.word(&text[..end]);
            text = &text[end..];
            let blank = text.len() - text.trim_ascii_start().len();
            self.skip(&text[..blank]);
            self.needs_space |= blank > 0;
            text = &text[blank..];
        }
    }

    fn word(&mut self, word: &str) {
        if word.is_empty() {
            return;
        }
        if self.needs_space && !self.at_line_start() {
            self.text.push(' ');
        }
        self.needs_space = false;
        self.mark();
        self.decode(word);
    }

    /// Adds preformatted text.
    fn verbatim(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            let leads = self.text.len() == self.open && line.trim_ascii().is_empty();
            if !leads {
                self.mark();
                self.decode(line);
            }
            self.skip(line);
            if self.is_full() {
                break;
            }
        }
    }

    fn decode(&mut self, mut text: &str) {
        while let Some(at) = text.find('&') {
            self.text.push_str(&text[..at]);
            text = entities::decode(&text[at..], &mut self.text);
        }
        self.text.push_str(text);
    }

    fn mark(&mut self) {
        if self.marks.last().is_none_or(|mark| mark.1 != self.line) {
            self.marks.push((self.text.len(), self.line));
        }
    }

    fn at_line_start(&self) -> bool {
        self.text.len() == self.open || self.text.ends_with('\n')
    }

    /// Begins a new line.
    pub(super) fn start_line(&mut self) {
        if !self.at_line_start() {
            self.text.push('\n');
        }
        self.needs_space = false;
    }

    /// Begins a list item.
    pub(super) fn start_item(&mut self) {
        self.mark();
        self.text.push_str("- ");
    }

    /// Begins a table cell.
    pub(super) fn start_cell(&mut self) {
        if !self.at_line_start() {
            self.text.push_str(" | ");
        }
        self.needs_space = false;
    }

    /// Ends the current paragraph. It includes the headings directly before it.
    pub(super) fn end(&mut self) {
        self.needs_space = false;
        if self.heading.is_some() || self.is_listing {
            return;
        }
        let kind = DocumentBlockKind::Prose;
        self.push_block(kind);
    }

    fn push_block(&mut self, kind: DocumentBlockKind) {
        let written = self.open + self.text[self.open..].trim_end().len();
        self.text.truncate(written);
        while self.marks.last().is_some_and(|mark| mark.0 > written) {
            self.marks.pop();
        }
        if written > self.open {
            let start = self.lead.take().unwrap_or(self.open);
            let heading = self.headings.len() - 1;
            self.blocks.push(HtmlBlock { range: start..self.text.len(), heading, kind });
            self.text.push_str("\n\n");
        }
        self.open = self.text.len();
    }

    /// Begins preformatted text.
    pub(super) fn start_listing(&mut self) {
        self.end();
        self.is_listing = self.heading.is_none();
    }

    /// Ends preformatted text.
    pub(super) fn end_listing(&mut self) {
        if std::mem::take(&mut self.is_listing) {
            self.push_block(DocumentBlockKind::Whole);
        }
    }

    /// Begins a heading.
    pub(super) fn start_heading(&mut self, level: usize) {
        self.end_heading();
        self.end_listing();
        self.end();
        self.heading = Some((level, self.text.len()));
    }

    /// Ends a heading.
    pub(super) fn end_heading(&mut self) {
        let Some((level, start)) = self.heading.take() else { return };
        let words = self.text[start..].split_whitespace().collect::<Vec<_>>().join(" ");
        self.needs_space = false;
        if words.is_empty() {
            return;
        }
        let is_below = self.outline.level().is_some_and(|open| open < level);
        if let Some(lead) = self.lead.filter(|_| !is_below) {
            let heading = self.headings.len() - 1;
            self.blocks.push(HtmlBlock {
                range: lead..start,
                heading,
                kind: DocumentBlockKind::Prose,
            });
            self.lead = None;
        }
        self.outline.enter(level, &words);
        self.headings.push(self.outline.path());
        self.lead.get_or_insert(start);
        self.text.push_str("\n\n");
        self.open = self.text.len();
        if level == 1 && self.first.is_none() {
            self.first = Some(words);
        }
    }

    /// Sets the title.
    pub(super) fn title(&mut self, text: &str) {
        let mut words = String::new();
        std::mem::swap(&mut words, &mut self.text);
        self.decode(&text[..text.floor_char_boundary(1024)]);
        std::mem::swap(&mut words, &mut self.text);
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        if self.title.is_none() && !words.is_empty() {
            self.title = Some(words);
        }
    }

    /// Returns the page.
    pub(super) fn finish(mut self) -> HtmlPage {
        let is_cut = self.is_full();
        self.end_heading();
        self.end_listing();
        self.end();
        if let Some(lead) = self.lead.take() {
            let heading = self.headings.len() - 1;
            self.blocks.push(HtmlBlock {
                range: lead..self.text.len(),
                heading,
                kind: DocumentBlockKind::Prose,
            });
        }
        HtmlPage {
            text: self.text,
            marks: self.marks,
            blocks: self.blocks,
            headings: self.headings,
            title: self.title.or(self.first),
            is_cut,
        }
    }
}
