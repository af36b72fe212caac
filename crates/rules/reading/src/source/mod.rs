//! The source of a program: its functions, classes and the like, with the comments before them.
//!
//! No language is parsed. Items are known by the words they begin with, and end where the
//! indentation goes back: that is right for nearly all code that people read, and where it is wrong
//! a passage has another heading than it might.

mod item;
mod segments;

use crate::lines::{self, Line};
use crate::outline::Outline;
use crate::passages::Passages;
use segments::Segments;

/// Items that are indented further are not told apart.
const FURTHEST: usize = 16;

/// What follows an item's first line at its own indentation and belongs to it.
const GOES_ON: [&str; 14] = [
    "where", "else", "elif", "elsif", "except", "finally", "catch", "rescue", "ensure", "end",
    "begin", "then", "fi", "done",
];

/// Reads a text. A program does not say what it is called.
pub(crate) fn read(text: &str, passages: &mut Passages) -> Option<String> {
    let mut reader = Reader { outline: Outline::default(), lead: None, is_comment: false };
    let mut segments = Segments::new(passages);
    for line in lines::lines(text, 0..text.len()) {
        if segments.is_full() {
            break;
        }
        reader.line(&line, &mut segments);
    }
    segments.finish(text.len(), &reader.outline);
    None
}

#[derive(Debug)]
struct Reader {
    outline: Outline,
    /// Where the comments and attributes begin that stand right before this line.
    lead: Option<usize>,
    /// Whether a comment of several lines is open.
    is_comment: bool,
}

impl Reader {
    fn line(&mut self, line: &Line, segments: &mut Segments) {
        let words = line.text.trim();
        if words.is_empty() {
            if !self.is_comment {
                self.lead = None;
            }
            return;
        }
        if self.is_note(words) {
            self.lead.get_or_insert(line.start);
            return;
        }
        let start = self.lead.take().unwrap_or(line.start);
        let indent = line.indent();
        let item = if indent <= FURTHEST { item::of(words) } else { None };
        if let Some(label) = item {
            segments.end(start, &self.outline);
            self.outline.enter(indent, &label);
        } else if self.outline.level().is_some_and(|open| indent <= open) && !goes_on(words) {
            segments.end(start, &self.outline);
            self.outline.leave(indent);
        }
    }

    /// Whether a line is a comment or an attribute: it belongs to what follows it.
    fn is_note(&mut self, words: &str) -> bool {
        if self.is_comment {
            self.is_comment = !words.contains("*/");
            return true;
        }
        if let Some(comment) = words.strip_prefix("/*") {
            self.is_comment = !comment.contains("*/");
            return true;
        }
        ["//", "#", "--", "@", ";;", "%%", "[<", "(*", "{-"]
            .iter()
            .any(|sign| words.starts_with(sign))
    }
}

fn goes_on(words: &str) -> bool {
    if words.starts_with(['}', ')', ']', '{', '|', ':', ',', '.', '&', '+']) {
        return true;
    }
    let word = words.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
    GOES_ON.contains(&word)
}

#[cfg(test)]
mod tests;
