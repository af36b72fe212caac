//! Parses plain text: paragraphs between empty lines, and underlined headings.
//!
//! Underlined headings occur in reStructuredText and in many notes. As in reStructuredText, the
//! level of a sign depends on the order in which the signs first occur.

use crate::lines::{self, TextLine};
use crate::passage_builder::BlockSplitting;
use crate::section_builder::SectionBuilder;

/// The signs that can underline a heading.
const SIGNS: &str = "=-~^\"*#+`'";

/// The maximum length of a heading, in bytes.
const LONGEST: usize = 120;

/// Parses a text and returns its first heading, if it is at the outermost level.
pub(crate) fn read(text: &str, sections: &mut SectionBuilder) -> Option<String> {
    let (mut title, mut open, mut signs) = (None, None, Vec::new());
    let mut lines = lines::lines(text, 0..text.len()).peekable();
    while let Some(line) = lines.next() {
        if sections.passages.is_full() {
            break;
        }
        if line.is_blank() {
            if let Some(start) = open.take() {
                sections.block(text, start..line.start, BlockSplitting::Prose);
            }
            continue;
        }
        let next = lines.peek().filter(|_| open.is_none());
        if let Some(level) = next.and_then(|next| level(&line, next, &mut signs)) {
            lines.next();
            let words = line.text.trim();
            sections.heading(text, level, words, line.start);
            title = title.or_else(|| (level == 0).then(|| words.to_owned()));
        } else {
            open.get_or_insert(line.start);
        }
    }
    if let Some(start) = open {
        sections.block(text, start..text.len(), BlockSplitting::Prose);
    }
    title
}

/// Returns the level of a line as a heading, if the next line underlines it.
fn level(line: &TextLine, next: &TextLine, signs: &mut Vec<char>) -> Option<usize> {
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
        signs.iter().position(|known| *known == sign).unwrap_or_else(|| {
            signs.push(sign);
            signs.len() - 1
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passage_builder::PassageLocationTracker;

    fn read_all(text: &str) -> (Option<String>, Vec<(String, String)>) {
        let mut sections = SectionBuilder::new(PassageLocationTracker::counted());
        let title = read(text, &mut sections);
        let made = sections.finish(text, String::new()).passages;
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
