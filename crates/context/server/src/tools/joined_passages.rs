//! Joins the passages of a document into one text, and maps its spans back to passages.
//!
//! Minutes are analyzed as a whole, because an owner can be far from the task. Results cite
//! passages nevertheless.

use std::ops::Range;

use toolgate_extraction::PassageSpan;

use crate::passage::QuotedPassage;

/// One text made of passages.
#[derive(Debug, Clone, Default)]
pub(super) struct JoinedPassages {
    pub text: String,
    parts: Vec<JoinedPart>,
}

/// A part of the joined text and the passage it comes from.
#[derive(Debug, Clone)]
struct JoinedPart {
    /// The byte range in the joined text.
    range: Range<usize>,
    /// The index of the passage.
    passage: usize,
    /// Whether this is a heading of the passage, which its text does not contain.
    is_heading: bool,
}

impl JoinedPassages {
    /// Joins the passages of one document in their order.
    pub(super) fn of(passages: &[QuotedPassage]) -> Self {
        let mut joined = Self::default();
        let mut under: Vec<&str> = Vec::new();
        for (index, passage) in passages.iter().enumerate() {
            let headings: Vec<&str> =
                passage.heading.split(" > ").filter(|it| !it.is_empty()).collect();
            let same = headings.iter().zip(&under).take_while(|(new, old)| new == old).count();
            for (depth, heading) in headings.iter().enumerate().skip(same) {
                // The passage often begins with its headings already.
                let mut first = passage.text.lines().take(2 * headings.len() + 1);
                let stands = first.any(|line| line.contains(heading));
                if !stands {
                    joined.write(&format!("{} ", "#".repeat(depth + 1)), None);
                    joined.write(heading, Some((index, true)));
                    joined.write("\n\n", None);
                }
            }
            joined.write(&passage.text, Some((index, false)));
            joined.write("\n\n", None);
            under = headings;
        }
        joined
    }

    fn write(&mut self, text: &str, part: Option<(usize, bool)>) {
        let start = self.text.len();
        self.text.push_str(text);
        if let Some((index, heading)) = part {
            self.parts.push(JoinedPart {
                range: start..self.text.len(),
                passage: index,
                is_heading: heading,
            });
        }
    }

    /// Maps a span of the joined text to a span of a passage. A span in a heading maps to an empty
    /// span at the start of the passage below it.
    pub(super) fn to_passage_span(&self, span: PassageSpan) -> Option<PassageSpan> {
        let part = self.parts.iter().find(|part| part.range.contains(&span.start))?;
        if part.is_heading {
            return Some(PassageSpan { passage: part.passage, start: 0, end: 0 });
        }
        let end = span.end.min(part.range.end) - part.range.start;
        Some(PassageSpan { passage: part.passage, start: span.start - part.range.start, end })
    }

    /// Returns the text of a span.
    pub(super) fn words(&self, span: PassageSpan) -> Option<&str> {
        self.text.get(span.start..span.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(id: i64, heading: &str, text: &str) -> QuotedPassage {
        QuotedPassage {
            id,
            source: "minutes.md".into(),
            uri: String::new(),
            title: String::new(),
            heading: heading.into(),
            place: String::new(),
            modified: String::new(),
            trust: "untrusted",
            score: 0.0,
            text: text.into(),
        }
    }

    fn span(joined: &JoinedPassages, words: &str) -> PassageSpan {
        let start = joined.text.find(words).unwrap();
        PassageSpan { passage: 0, start, end: start + words.len() }
    }

    #[test]
    fn a_document_is_one_text_again_and_every_span_finds_its_passage() {
        let passages = [
            passage(1, "Meeting", "# Meeting\n\nWe met."),
            passage(2, "Meeting > Dates", "In May."),
            passage(3, "Meeting > Dates", "Or in June."),
        ];
        let joined = JoinedPassages::of(&passages);
        let whole = "# Meeting\n\nWe met.\n\n## Dates\n\nIn May.\n\nOr in June.\n\n";
        assert_eq!(joined.text, whole);
        let june = joined.to_passage_span(span(&joined, "June")).unwrap();
        assert_eq!((june.passage, &passages[2].text[june.start..june.end]), (2, "June"));
        let dates = joined.to_passage_span(span(&joined, "Dates")).unwrap();
        assert_eq!(dates, PassageSpan { passage: 1, start: 0, end: 0 });
        assert_eq!(joined.to_passage_span(span(&joined, "## ")), None);
        let across = joined.to_passage_span(span(&joined, "May.\n\nOr")).unwrap();
        assert_eq!(&passages[1].text[across.start..across.end], "May.");
    }
}
