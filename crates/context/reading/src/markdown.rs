//! Parses Markdown: headings, and between them paragraphs, lists, tables and code blocks.
//!
//! The parser works line by line, so it takes linear time however deeply the text is nested. It
//! only interprets what determines the boundaries of passages; their text stays unchanged.

mod front_matter;
mod heading;

use std::ops::Range;

use crate::lines::{self, TextLine};
use crate::outline::Outline;
use crate::passage_builder::{DocumentBlockKind, PassageBuilder};

/// Parses a text and returns its title, if it has one.
pub(crate) fn read<'a>(text: &'a str, passages: &mut PassageBuilder<'a>) -> Option<String> {
    let mut reader = MarkdownParser::new(text, passages);
    let front = front_matter::parse(text);
    let title = front.as_ref().and_then(|front| front.title.clone());
    let start = front.map_or(0, |front| {
        reader.passages.add(0..front.end, "", DocumentBlockKind::Whole);
        front.end
    });
    for line in lines::lines(text, start..text.len()) {
        if reader.passages.is_full() {
            break;
        }
        reader.line(&line);
    }
    reader.close(text.len());
    title.or(reader.title)
}

/// An open code fence.
#[derive(Debug, Clone, Copy)]
struct MarkdownFence {
    sign: u8,
    length: usize,
}

/// Parses Markdown line by line.
#[derive(Debug)]
struct MarkdownParser<'a, 'b> {
    text: &'a str,
    passages: &'b mut PassageBuilder<'a>,
    outline: Outline,
    path: String,
    /// The start of the current block.
    open: Option<usize>,
    /// The number of its lines so far.
    height: usize,
    kind: DocumentBlockKind,
    fence: Option<MarkdownFence>,
    /// The start of headings without text below them yet.
    lead: Option<usize>,
    title: Option<String>,
    is_first: bool,
}

impl<'a, 'b> MarkdownParser<'a, 'b> {
    fn new(text: &'a str, passages: &'b mut PassageBuilder<'a>) -> Self {
        Self {
            text,
            passages,
            outline: Outline::default(),
            path: String::new(),
            open: None,
            height: 0,
            kind: DocumentBlockKind::Prose,
            fence: None,
            lead: None,
            title: None,
            is_first: true,
        }
    }

    fn line(&mut self, line: &TextLine) {
        if let Some(fence) = self.fence {
            if closes_fence(line.text, fence) {
                self.fence = None;
                self.end(line.end());
            }
        } else if line.is_blank() {
            self.end(line.start);
        } else if let Some(fence) = opening_fence(line.text) {
            self.end(line.start);
            self.begin(line.start, DocumentBlockKind::Whole);
            self.fence = Some(fence);
        } else if let Some((level, words)) = heading::atx(line.text) {
            self.end(line.start);
            self.heading(level, words, line.start);
        } else if let Some(level) = self.setext_level(line) {
            let start = self.open.take().unwrap_or(line.start);
            let words = self.text[start..line.start].trim();
            self.heading(level, words, start);
        } else {
            let kind = if line.text.trim_start().starts_with('|') {
                DocumentBlockKind::Whole
            } else {
                DocumentBlockKind::Prose
            };
            self.begin(line.start, kind);
        }
    }

    /// Returns the level of the previous line as a heading, if this line underlines it.
    fn setext_level(&self, line: &TextLine) -> Option<usize> {
        let level = heading::underline(line.text)?;
        let before =
            self.open.filter(|_| self.height == 1 && self.kind == DocumentBlockKind::Prose)?;
        heading::can_be_heading(&self.text[before..line.start]).then_some(level)
    }

    fn begin(&mut self, at: usize, kind: DocumentBlockKind) {
        if self.open.is_none() {
            self.open = Some(at);
            self.kind = kind;
            self.height = 0;
        }
        self.height += 1;
        self.is_first = false;
    }

    /// Ends the current block. It includes the headings directly before it.
    fn end(&mut self, at: usize) {
        if let Some(open) = self.open.take() {
            let start = self.lead.take().unwrap_or(open);
            self.add(start..at);
        }
    }

    fn add(&mut self, block: Range<usize>) {
        self.passages.add(block, &self.path, self.kind);
    }

    fn heading(&mut self, level: usize, words: &str, start: usize) {
        let is_below = self.outline.level().is_some_and(|open| open < level);
        if let Some(lead) = self.lead.filter(|_| !is_below) {
            self.kind = DocumentBlockKind::Prose;
            self.add(lead..start);
            self.lead = None;
        }
        self.lead.get_or_insert(start);
        let words = heading::plain_text(words);
        if self.title.is_none() && (level == 1 || self.is_first) && !words.is_empty() {
            self.title = Some(words.clone());
        }
        self.is_first = false;
        self.outline.enter(level, &words);
        self.path = self.outline.path();
    }

    /// Ends everything at the end of the text.
    fn close(&mut self, at: usize) {
        self.end(at);
        if let Some(lead) = self.lead.take() {
            self.kind = DocumentBlockKind::Prose;
            self.add(lead..at);
        }
    }
}

/// Returns the fence if a line opens a code block. Inside a list it can be indented further than
/// Markdown allows elsewhere.
fn opening_fence(line: &str) -> Option<MarkdownFence> {
    let line = line.trim_start();
    let sign = *line.as_bytes().first().filter(|sign| matches!(sign, b'`' | b'~'))?;
    let length = line.bytes().take_while(|byte| *byte == sign).count();
    let is_inline = sign == b'`' && line[length..].contains('`');
    (length >= 3 && !is_inline).then_some(MarkdownFence { sign, length })
}

fn closes_fence(line: &str, fence: MarkdownFence) -> bool {
    let line = line.trim_ascii();
    line.len() >= fence.length && line.bytes().all(|byte| byte == fence.sign)
}

#[cfg(test)]
mod tests;
