//! The text of a page under its headings, and the lines of the file it comes from.

use crate::ParsedDocument;
use crate::lines::join_words;
use crate::passage_builder::{BlockSplitting, PassageLocationTracker};
use crate::section_builder::SectionBuilder;

/// The maximum length of a title, in bytes.
const LONGEST_TITLE: usize = 1024;

/// A page that is built from text and tags.
#[derive(Debug)]
pub(super) struct HtmlPage {
    /// The decoded text.
    text: String,
    sections: SectionBuilder,
    title: Option<String>,
    first_heading: Option<String>,
    /// The current line of the file.
    line: u32,
    /// The start of the current block.
    open: usize,
    /// The level and start of the open heading.
    heading: Option<(usize, usize)>,
    is_listing: bool,
    /// Whether a blank must precede the next word.
    needs_space: bool,
}

impl Default for HtmlPage {
    fn default() -> Self {
        Self {
            text: String::new(),
            sections: SectionBuilder::new(PassageLocationTracker::Marked {
                marks: Vec::new(),
                at: 0,
            }),
            title: None,
            first_heading: None,
            line: 1,
            open: 0,
            heading: None,
            is_listing: false,
            needs_space: false,
        }
    }
}

impl HtmlPage {
    /// Returns true if the page has reached the maximum number of passages.
    pub(super) fn is_full(&self) -> bool {
        self.sections.passages.is_full()
    }

    /// Counts the lines of source text that is skipped.
    pub(super) fn add_lines(&mut self, skipped: &[u8]) {
        let ends = skipped.iter().filter(|byte| **byte == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(ends).unwrap_or(u32::MAX));
    }

    /// Adds text. The line stays the one where the text begins, because the caller counts lines.
    pub(super) fn add_text(&mut self, text: &str) {
        for (line, number) in text.split_inclusive('\n').zip(self.line..) {
            if self.is_listing {
                self.add_listing_line(line, number);
            } else {
                self.add_words(line, number);
            }
        }
    }

    fn add_words(&mut self, line: &str, number: u32) {
        for piece in line.split_inclusive(char::is_whitespace) {
            let word = piece.trim_end();
            if !word.is_empty() {
                if self.needs_space && !self.at_line_start() {
                    self.text.push(' ');
                }
                self.sections.passages.mark(self.text.len(), number);
                self.text.push_str(word);
                self.needs_space = false;
            }
            self.needs_space |= word.len() < piece.len();
        }
    }

    fn add_listing_line(&mut self, line: &str, number: u32) {
        let leads = self.text.len() == self.open && line.trim_ascii().is_empty();
        if !leads {
            self.sections.passages.mark(self.text.len(), number);
            self.text.push_str(line);
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
        self.sections.passages.mark(self.text.len(), self.line);
        self.text.push_str("- ");
    }

    /// Begins a table cell.
    pub(super) fn start_cell(&mut self) {
        if !self.at_line_start() {
            self.text.push_str(" | ");
        }
        self.needs_space = false;
    }

    /// Ends the current paragraph, unless it is a heading or preformatted.
    pub(super) fn end_block(&mut self) {
        self.needs_space = false;
        if self.heading.is_none() && !self.is_listing {
            self.push_block(BlockSplitting::Prose);
        }
    }

    fn push_block(&mut self, kind: BlockSplitting) {
        let end = self.open + self.text[self.open..].trim_end().len();
        self.text.truncate(end);
        if end > self.open {
            self.sections.block(&self.text, self.open..end, kind);
            self.text.push_str("\n\n");
        }
        self.open = self.text.len();
    }

    /// Begins preformatted text.
    pub(super) fn start_listing(&mut self) {
        self.end_block();
        self.is_listing = self.heading.is_none();
    }

    /// Ends preformatted text.
    pub(super) fn end_listing(&mut self) {
        if std::mem::take(&mut self.is_listing) {
            self.push_block(BlockSplitting::Whole);
        }
    }

    /// Begins a heading.
    pub(super) fn start_heading(&mut self, level: usize) {
        self.end_heading();
        self.end_listing();
        self.end_block();
        self.heading = Some((level, self.text.len()));
    }

    /// Ends a heading.
    pub(super) fn end_heading(&mut self) {
        let Some((level, start)) = self.heading.take() else { return };
        let words = join_words(&self.text[start..]);
        self.needs_space = false;
        if words.is_empty() {
            return;
        }
        self.sections.heading(&self.text, level, &words, start);
        self.text.push_str("\n\n");
        self.open = self.text.len();
        if level == 1 && self.first_heading.is_none() {
            self.first_heading = Some(words);
        }
    }

    /// Sets the title.
    pub(super) fn set_title(&mut self, text: &str) {
        let words = join_words(&text[..text.floor_char_boundary(LONGEST_TITLE)]);
        if self.title.is_none() && !words.is_empty() {
            self.title = Some(words);
        }
    }

    /// Returns the document, with another title if the page has none.
    pub(super) fn finish(mut self, other_title: impl FnOnce() -> String) -> ParsedDocument {
        self.end_heading();
        self.end_listing();
        self.end_block();
        let title = self.title.or(self.first_heading).unwrap_or_else(other_title);
        self.sections.finish(&self.text, title)
    }
}
