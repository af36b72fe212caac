//! Markdown: headings, and between them paragraphs, lists, tables and listings.
//!
//! It is read line by line, so a text costs what it is long however it is nested. Only what decides
//! where a passage begins and ends is understood; what stands inside is left as it is.

mod front;
mod heading;

use std::ops::Range;

use crate::lines::{self, Line};
use crate::outline::Outline;
use crate::passages::{Kind, Passages};

/// Reads a text; says what it calls itself.
pub(crate) fn read<'a>(text: &'a str, passages: &mut Passages<'a>) -> Option<String> {
    let mut reader = Reader::new(text, passages);
    let front = front::of(text);
    let title = front.as_ref().and_then(|front| front.title.clone());
    let start = front.map_or(0, |front| {
        reader.passages.add(0..front.end, "", Kind::Whole);
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

/// A fence that waits for its end.
#[derive(Debug, Clone, Copy)]
struct Fence {
    sign: u8,
    length: usize,
}

#[derive(Debug)]
struct Reader<'a, 'b> {
    text: &'a str,
    passages: &'b mut Passages<'a>,
    outline: Outline,
    path: String,
    /// Where the block at hand begins.
    open: Option<usize>,
    /// Its lines so far.
    height: usize,
    kind: Kind,
    fence: Option<Fence>,
    /// Where the headings begin that nothing stands below yet.
    lead: Option<usize>,
    title: Option<String>,
    is_first: bool,
}

impl<'a, 'b> Reader<'a, 'b> {
    fn new(text: &'a str, passages: &'b mut Passages<'a>) -> Self {
        Self {
            text,
            passages,
            outline: Outline::default(),
            path: String::new(),
            open: None,
            height: 0,
            kind: Kind::Prose,
            fence: None,
            lead: None,
            title: None,
            is_first: true,
        }
    }

    fn line(&mut self, line: &Line) {
        if let Some(fence) = self.fence {
            if closes(line.text, fence) {
                self.fence = None;
                self.end(line.end());
            }
        } else if line.is_blank() {
            self.end(line.start);
        } else if let Some(fence) = opens(line.text) {
            self.end(line.start);
            self.begin(line.start, Kind::Whole);
            self.fence = Some(fence);
        } else if let Some((level, words)) = heading::atx(line.text) {
            self.end(line.start);
            self.heading(level, words, line.start);
        } else if let Some(level) = self.underlined(line) {
            let start = self.open.take().unwrap_or(line.start);
            let words = self.text[start..line.start].trim();
            self.heading(level, words, start);
        } else {
            let kind =
                if line.text.trim_start().starts_with('|') { Kind::Whole } else { Kind::Prose };
            self.begin(line.start, kind);
        }
    }

    /// The level of the line before, if this one underlines it.
    fn underlined(&self, line: &Line) -> Option<usize> {
        let level = heading::underline(line.text)?;
        let before = self.open.filter(|_| self.height == 1 && self.kind == Kind::Prose)?;
        heading::can_be(&self.text[before..line.start]).then_some(level)
    }

    fn begin(&mut self, at: usize, kind: Kind) {
        if self.open.is_none() {
            self.open = Some(at);
            self.kind = kind;
            self.height = 0;
        }
        self.height += 1;
        self.is_first = false;
    }

    /// Ends the block at hand. The headings before it belong to it.
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
            self.kind = Kind::Prose;
            self.add(lead..start);
            self.lead = None;
        }
        self.lead.get_or_insert(start);
        let words = heading::plain(words);
        if self.title.is_none() && (level == 1 || self.is_first) && !words.is_empty() {
            self.title = Some(words.clone());
        }
        self.is_first = false;
        self.outline.enter(level, &words);
        self.path = self.outline.path();
    }

    /// Ends what is open, at the end of the text.
    fn close(&mut self, at: usize) {
        self.end(at);
        if let Some(lead) = self.lead.take() {
            self.kind = Kind::Prose;
            self.add(lead..at);
        }
    }
}

/// Whether a line opens a listing. Inside a list it may be indented further than Markdown allows
/// elsewhere.
fn opens(line: &str) -> Option<Fence> {
    let line = line.trim_start();
    let sign = *line.as_bytes().first().filter(|sign| matches!(sign, b'`' | b'~'))?;
    let length = line.bytes().take_while(|byte| *byte == sign).count();
    let is_inline = sign == b'`' && line[length..].contains('`');
    (length >= 3 && !is_inline).then_some(Fence { sign, length })
}

fn closes(line: &str, fence: Fence) -> bool {
    let line = line.trim_ascii();
    line.len() >= fence.length && line.bytes().all(|byte| byte == fence.sign)
}

#[cfg(test)]
mod tests;
