//! Parses plain text: paragraphs between empty lines, and underlined headings.
//!
//! Underlined headings occur in reStructuredText and in many notes. As in reStructuredText, the
//! level of a sign depends on the order in which the signs first occur.

use crate::lines::{self, TextLine};
use crate::outline::Outline;
use crate::passage_builder::{DocumentBlockKind, PassageBuilder};

/// The signs that can underline a heading.
const SIGNS: &str = "=-~^\"*#+`'";

/// The maximum length of a heading, in bytes.
const LONGEST: usize = 120;

/// Parses a text and returns its first heading, if it is at the outermost level.
pub(crate) fn read(text: &str, passages: &mut PassageBuilder) -> Option<String> {
    let mut reader = PlainTextParser::default();
    let mut lines = lines::lines(text, 0..text.len()).peekable();
    while let Some(line) = lines.next() {
        if passages.is_full() {
            break;
        }
        if line.is_blank() {
            reader.end(line.start, passages);
            continue;
        }
        let level =
            lines.peek().filter(|_| !reader.is_open()).and_then(|next| reader.level(&line, next));
        if let Some(level) = level {
            lines.next();
            reader.heading(level, &line, passages);
        } else {
            reader.begin(line.start);
        }
    }
    reader.close(text.len(), passages);
    reader.title
}

/// Parses plain text line by line.
#[derive(Debug, Default)]
struct PlainTextParser {
    outline: Outline,
    path: String,
    signs: Vec<char>,
    /// The start of the current paragraph.
    open: Option<usize>,
    /// Whether the current paragraph is only a heading so far.
    is_lead: bool,
    title: Option<String>,
}

impl PlainTextParser {
    fn is_open(&self) -> bool {
        self.open.is_some() && !self.is_lead
    }

    fn begin(&mut self, at: usize) {
        self.open.get_or_insert(at);
        self.is_lead = false;
    }

    /// Ends a paragraph. A heading is kept for the text below it.
    fn end(&mut self, at: usize, passages: &mut PassageBuilder) {
        if !self.is_lead {
            self.close(at, passages);
        }
    }

    fn close(&mut self, at: usize, passages: &mut PassageBuilder) {
        if let Some(start) = self.open.take() {
            passages.add(start..at, &self.path, DocumentBlockKind::Prose);
        }
        self.is_lead = false;
    }

    fn heading(&mut self, level: usize, line: &TextLine, passages: &mut PassageBuilder) {
        let is_below = self.outline.level().is_some_and(|open| open < level);
        if !(self.is_lead && is_below) {
            self.close(line.start, passages);
        }
        let words = line.text.trim();
        self.outline.enter(level, words);
        self.path = self.outline.path();
        self.begin(line.start);
        self.is_lead = true;
        if level == 0 && self.title.is_none() {
            self.title = Some(words.to_owned());
        }
    }

    /// Returns the level of a line as a heading, if the next line underlines it.
    fn level(&mut self, line: &TextLine, next: &TextLine) -> Option<usize> {
        let under = next.text.trim_end();
        let sign = under.chars().next().filter(|sign| SIGNS.contains(*sign))?;
        let words = line.text.trim();
        let is_underlined = line.indent() == 0
            && words.len() <= LONGEST
            && words.contains(char::is_alphanumeric)
            && under.len() >= 3
            && under.len() <= LONGEST
            && under.chars().all(|c| c == sign)
            && under.chars().count() + 2 >= words.chars().count();
        is_underlined.then(|| {
            self.signs.iter().position(|known| *known == sign).unwrap_or_else(|| {
                self.signs.push(sign);
                self.signs.len() - 1
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passage_builder::LocationTracker;

    fn read_all(text: &str) -> (Option<String>, Vec<(String, String)>) {
        let mut passages = PassageBuilder::new(text, LocationTracker::counted());
        let title = read(text, &mut passages);
        let made = passages.finish().0;
        (title, made.into_iter().map(|passage| (passage.heading, passage.text)).collect())
    }

    fn pair(heading: &str, text: &str) -> (String, String) {
        (heading.to_owned(), text.to_owned())
    }

    #[test]
    fn underlined_lines_are_headings() {
        let text =
            "Minutes\n=======\n\nPresent\n-------\nAnn, Bo\n\nActions\n-------\n\nBo: call.\n";
        let (title, made) = read_all(text);
        assert_eq!(title.as_deref(), Some("Minutes"));
        assert_eq!(
            made,
            [
                pair("Minutes > Present", "Minutes\n=======\n\nPresent\n-------\nAnn, Bo"),
                pair("Minutes > Actions", "Actions\n-------\n\nBo: call."),
            ]
        );
    }

    #[test]
    fn a_heading_alone_is_kept() {
        let (_, made) = read_all("One\n===\n\nTwo\n===\n");
        assert_eq!(made, [pair("One", "One\n==="), pair("Two", "Two\n===")]);
    }

    #[test]
    fn tables_and_rules_are_no_headings() {
        let (title, made) = read_all("some text here\nthat goes on\n----\nend\n");
        assert_eq!(title, None);
        assert_eq!(made, [pair("", "some text here\nthat goes on\n----\nend")]);
    }
}
