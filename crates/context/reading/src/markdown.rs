//! Parses Markdown: headings, and between them paragraphs, lists, tables and code blocks.
//!
//! The parser only determines where blocks begin and what headings say. The text of passages stays
//! unchanged, and nothing between two blocks is lost, such as the targets of links.

mod front_matter;

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::lines::join_words;
use crate::passage_builder::BlockSplitting;
use crate::section_builder::SectionBuilder;

/// The maximum length of a heading, in bytes.
const LONGEST: usize = 512;

/// Parses a text and returns its title, if it has one.
pub(crate) fn read(text: &str, sections: &mut SectionBuilder) -> Option<String> {
    let front = front_matter::parse(text);
    let start = front.as_ref().map_or(0, |front| front.end);
    sections.block(text, 0..start, BlockSplitting::Whole);
    let mut reader = MarkdownReader {
        text,
        sections,
        open: start,
        kind: BlockSplitting::Prose,
        at: 0,
        line: 0,
        is_apart: false,
        depth: 0,
        heading: None,
        title: None,
        is_first: true,
    };
    let parser = Parser::new_ext(&text[start..], Options::ENABLE_HEADING_ATTRIBUTES);
    for (event, range) in parser.into_offset_iter() {
        if reader.sections.passages.is_full() {
            break;
        }
        reader.event(event, start + range.start..start + range.end);
    }
    reader.end_block(text.len());
    let title = reader.title;
    front.and_then(|front| front.title).or(title)
}

/// Turns the events of a Markdown parser into blocks and headings.
struct MarkdownReader<'a, 'b> {
    text: &'a str,
    sections: &'b mut SectionBuilder,
    /// The start of the current block.
    open: usize,
    kind: BlockSplitting,
    /// The offset of the current element.
    at: usize,
    /// The start of its line.
    line: usize,
    /// Whether the line before it is empty.
    is_apart: bool,
    /// The number of open elements.
    depth: usize,
    /// The words of the open heading.
    heading: Option<String>,
    title: Option<String>,
    /// Whether nothing precedes this place.
    is_first: bool,
}

impl MarkdownReader<'_, '_> {
    fn event(&mut self, event: Event, range: Range<usize>) {
        match event {
            Event::Start(tag) => {
                self.start(&tag, range.start);
                self.depth += 1;
            }
            Event::End(end) => {
                self.depth -= 1;
                let heading = self.heading.take_if(|_| self.depth == 0);
                if let (TagEnd::Heading(level), Some(words)) = (end, heading) {
                    self.end_heading(level as usize, &words, range.end);
                }
            }
            Event::Text(words) | Event::Code(words) => self.add_heading_words(&words),
            Event::SoftBreak | Event::HardBreak => self.add_heading_words(" "),
            Event::Rule if self.depth == 0 => self.end_block(range.start),
            _ => {}
        }
    }

    /// Begins a block at an element at the outermost level, or after an empty line.
    fn start(&mut self, tag: &Tag, at: usize) {
        self.move_to(at);
        if self.depth == 0 || (self.is_apart && self.line > self.open && self.heading.is_none()) {
            self.end_block(self.line);
        }
        match tag {
            Tag::Heading { .. } if self.depth == 0 => self.heading = Some(String::new()),
            Tag::CodeBlock(_) if self.line == self.open => self.kind = BlockSplitting::Whole,
            // A row of a table.
            Tag::Paragraph if self.text[at..].starts_with('|') && self.line == self.open => {
                self.kind = BlockSplitting::Whole;
            }
            _ => {}
        }
    }

    /// Finds the line of this offset. Elements come in order, so each byte is read once.
    fn move_to(&mut self, at: usize) {
        let from = self.at;
        self.at = at.max(from);
        let Some(end) = self.text[from..self.at].rfind('\n') else { return };
        self.line = from + end + 1;
        let before = self.text[..self.line].trim_end_matches([' ', '\t', '\r', '\n']).len();
        let blank = &self.text.as_bytes()[before..self.line];
        self.is_apart = blank.iter().filter(|byte| **byte == b'\n').count() > 1;
    }

    /// Ends the current block. The next one begins here.
    fn end_block(&mut self, at: usize) {
        if !self.text[self.open..at].trim_ascii().is_empty() {
            self.sections.block(self.text, self.open..at, self.kind);
            self.is_first = false;
        }
        self.open = at;
        self.kind = BlockSplitting::Prose;
    }

    fn add_heading_words(&mut self, words: &str) {
        if let Some(heading) = &mut self.heading {
            let room = LONGEST.saturating_sub(heading.len());
            heading.push_str(&words[..words.floor_char_boundary(room)]);
        }
    }

    fn end_heading(&mut self, level: usize, words: &str, end: usize) {
        let words = join_words(words);
        self.sections.heading(self.text, level, &words, self.open);
        if self.title.is_none() && (level == 1 || self.is_first) && !words.is_empty() {
            self.title = Some(words);
        }
        self.is_first = false;
        self.open = end;
    }
}

#[cfg(test)]
mod tests;
