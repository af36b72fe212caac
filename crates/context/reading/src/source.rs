//! Parses source code: functions, classes and other items, with the comments before them.
//!
//! No language is really parsed. Items are recognized by the keywords they begin with, and end
//! where the indentation decreases. That is right for nearly all code; where it is wrong, a passage
//! only has another heading.

mod item;
mod segments;

use crate::lines::{self, TextLine};
use crate::outline::Outline;
use crate::passage_builder::PassageBuilder;
use segments::SourceSegmentMerger;

/// The maximum indentation of items that get their own heading, in columns.
const FURTHEST: usize = 16;

/// Beginnings of lines that continue an item at its own indentation.
const GOES_ON: [&str; 14] = [
    "where", "else", "elif", "elsif", "except", "finally", "catch", "rescue", "ensure", "end",
    "begin", "then", "fi", "done",
];

/// Parses a text. Source code has no title.
pub(crate) fn read(text: &str, passages: &mut PassageBuilder) -> Option<String> {
    let mut reader =
        SourceCodeParser { outline: Outline::default(), lead: None, is_comment: false };
    let mut segments = SourceSegmentMerger::new(text, passages);
    for line in lines::lines(text, 0..text.len()) {
        if segments.is_full() {
            break;
        }
        reader.line(&line, &mut segments);
    }
    segments.finish(text.len(), &reader.outline);
    None
}

/// Finds items and their leading comments line by line.
#[derive(Debug)]
struct SourceCodeParser {
    outline: Outline,
    /// The start of comments and attributes directly before this line.
    lead: Option<usize>,
    /// Whether a block comment is open.
    is_comment: bool,
}

impl SourceCodeParser {
    fn line(&mut self, line: &TextLine, segments: &mut SourceSegmentMerger) {
        let words = line.text.trim();
        if words.is_empty() {
            if !self.is_comment {
                self.lead = None;
            }
            return;
        }
        if self.is_comment_or_attribute(words) {
            self.lead.get_or_insert(line.start);
            return;
        }
        let start = self.lead.take().unwrap_or(line.start);
        let indent = line.indent();
        let item = if indent <= FURTHEST { item::item_label(words) } else { None };
        if let Some(label) = item {
            segments.end(start, &self.outline);
            self.outline.enter(indent, &label);
        } else if self.outline.level().is_some_and(|open| indent <= open) && !continues_item(words)
        {
            segments.end(start, &self.outline);
            self.outline.leave(indent);
        }
    }

    /// Returns true if a line is a comment or an attribute, which belongs to the item after it.
    fn is_comment_or_attribute(&mut self, words: &str) -> bool {
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

fn continues_item(words: &str) -> bool {
    if words.starts_with(['}', ')', ']', '{', '|', ':', ',', '.', '&', '+']) {
        return true;
    }
    let word = words.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
    GOES_ON.contains(&word)
}

#[cfg(test)]
mod tests;
