//! The text of a page as it is read, with its blocks and the lines it comes from.

use std::ops::Range;

use super::entities;
use crate::outline::Outline;
use crate::passages::{self, Kind};

/// More text than this is not kept of one page: what its passages can hold.
const MOST_TEXT: usize = passages::MOST * passages::LONG;

/// More blocks than this are not kept of one page.
const MOST_BLOCKS: usize = passages::MOST * 16;

/// A piece of the text that belongs together.
#[derive(Debug)]
pub(super) struct Block {
    /// Where it stands in the text.
    pub(super) range: Range<usize>,
    /// The number of its heading.
    pub(super) heading: usize,
    /// How it may be parted.
    pub(super) kind: Kind,
}

/// A page that was read.
#[derive(Debug)]
pub(super) struct Finished {
    /// Its text.
    pub(super) text: String,
    /// The line of the file each part of the text begins at.
    pub(super) marks: Vec<(usize, u32)>,
    /// Its blocks, in order.
    pub(super) blocks: Vec<Block>,
    /// Its headings.
    pub(super) headings: Vec<String>,
    /// What it calls itself.
    pub(super) title: Option<String>,
    /// Whether it is not all there.
    pub(super) is_cut: bool,
}

/// A page that is being read.
#[derive(Debug)]
pub(super) struct Page {
    text: String,
    marks: Vec<(usize, u32)>,
    blocks: Vec<Block>,
    headings: Vec<String>,
    outline: Outline,
    title: Option<String>,
    first: Option<String>,
    /// The line of the file.
    line: u32,
    /// Where the block at hand begins.
    open: usize,
    /// Where the headings begin that nothing stands below yet.
    lead: Option<usize>,
    /// The heading that is open: its level and where it begins.
    heading: Option<(usize, usize)>,
    is_listing: bool,
    /// Whether a blank is due before the next word.
    is_apart: bool,
}

impl Default for Page {
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
            is_apart: false,
        }
    }
}

impl Page {
    /// Whether no more is kept.
    pub(super) fn is_full(&self) -> bool {
        self.text.len() >= MOST_TEXT || self.blocks.len() >= MOST_BLOCKS
    }

    /// Goes past what is not read.
    pub(super) fn pass(&mut self, taken: &str) {
        let ends = taken.bytes().filter(|byte| *byte == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(ends).unwrap_or(u32::MAX));
    }

    /// Takes text as it is written.
    pub(super) fn text(&mut self, mut text: &str) {
        if self.is_listing {
            return self.verbatim(text);
        }
        while !text.is_empty() && !self.is_full() {
            let end = text.find([' ', '\n', '\t', '\r', '\u{c}']).unwrap_or(text.len());
            self.word(&text[..end]);
            text = &text[end..];
            let blank = text.len() - text.trim_ascii_start().len();
            self.pass(&text[..blank]);
            self.is_apart |= blank > 0;
            text = &text[blank..];
        }
    }

    fn word(&mut self, word: &str) {
        if word.is_empty() {
            return;
        }
        if self.is_apart && !self.at_line_start() {
            self.text.push(' ');
        }
        self.is_apart = false;
        self.mark();
        self.decode(word);
    }

    /// Text whose blanks and lines count.
    fn verbatim(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            let leads = self.text.len() == self.open && line.trim_ascii().is_empty();
            if !leads {
                self.mark();
                self.decode(line);
            }
            self.pass(line);
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
    pub(super) fn line(&mut self) {
        if !self.at_line_start() {
            self.text.push('\n');
        }
        self.is_apart = false;
    }

    /// Begins an item of a list.
    pub(super) fn item(&mut self) {
        self.mark();
        self.text.push_str("- ");
    }

    /// Begins a cell of a table.
    pub(super) fn cell(&mut self) {
        if !self.at_line_start() {
            self.text.push_str(" | ");
        }
        self.is_apart = false;
    }

    /// Ends the paragraph at hand. The headings before it belong to it.
    pub(super) fn end(&mut self) {
        self.is_apart = false;
        if self.heading.is_some() || self.is_listing {
            return;
        }
        let kind = Kind::Prose;
        self.block(kind);
    }

    fn block(&mut self, kind: Kind) {
        let written = self.open + self.text[self.open..].trim_end().len();
        self.text.truncate(written);
        while self.marks.last().is_some_and(|mark| mark.0 > written) {
            self.marks.pop();
        }
        if written > self.open {
            let start = self.lead.take().unwrap_or(self.open);
            let heading = self.headings.len() - 1;
            self.blocks.push(Block { range: start..self.text.len(), heading, kind });
            self.text.push_str("\n\n");
        }
        self.open = self.text.len();
    }

    /// Begins a listing.
    pub(super) fn listing(&mut self) {
        self.end();
        self.is_listing = self.heading.is_none();
    }

    /// Ends a listing.
    pub(super) fn end_listing(&mut self) {
        if std::mem::take(&mut self.is_listing) {
            self.block(Kind::Whole);
        }
    }

    /// Begins a heading.
    pub(super) fn heading(&mut self, level: usize) {
        self.end_heading();
        self.end_listing();
        self.end();
        self.heading = Some((level, self.text.len()));
    }

    /// Ends a heading.
    pub(super) fn end_heading(&mut self) {
        let Some((level, start)) = self.heading.take() else { return };
        let words = self.text[start..].split_whitespace().collect::<Vec<_>>().join(" ");
        self.is_apart = false;
        if words.is_empty() {
            return;
        }
        let is_below = self.outline.level().is_some_and(|open| open < level);
        if let Some(lead) = self.lead.filter(|_| !is_below) {
            let heading = self.headings.len() - 1;
            self.blocks.push(Block { range: lead..start, heading, kind: Kind::Prose });
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

    /// Takes what the page calls itself.
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

    /// The page, when all of it was read.
    pub(super) fn finish(mut self) -> Finished {
        let is_cut = self.is_full();
        self.end_heading();
        self.end_listing();
        self.end();
        if let Some(lead) = self.lead.take() {
            let heading = self.headings.len() - 1;
            self.blocks.push(Block { range: lead..self.text.len(), heading, kind: Kind::Prose });
        }
        Finished {
            text: self.text,
            marks: self.marks,
            blocks: self.blocks,
            headings: self.headings,
            title: self.title.or(self.first),
            is_cut,
        }
    }
}
