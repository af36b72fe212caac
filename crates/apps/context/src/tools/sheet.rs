//! A whole document as one text again, and where each of its parts stands among its passages.
//!
//! Minutes are read as a whole: who is to do something may stand far from what. What is found is
//! cited by passage like everything else.

use std::ops::Range;

use toolgate_gleaning::Span;

use crate::passage::Passage;

/// A text made of passages.
#[derive(Debug, Clone, Default)]
pub(super) struct Sheet {
    pub text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
struct Part {
    /// Where it stands in the text.
    at: Range<usize>,
    /// Of which passage it is.
    leaf: usize,
    /// Whether it is the heading of it, which does not stand in its text.
    heading: bool,
}

impl Sheet {
    /// Passages of one document, in their order.
    pub(super) fn of(passages: &[Passage]) -> Self {
        let mut sheet = Self::default();
        let mut under: Vec<&str> = Vec::new();
        for (leaf, passage) in passages.iter().enumerate() {
            let headings: Vec<&str> =
                passage.heading.split(" > ").filter(|it| !it.is_empty()).collect();
            let same = headings.iter().zip(&under).take_while(|(new, old)| new == old).count();
            for (depth, heading) in headings.iter().enumerate().skip(same) {
                // Often it begins with its headings, as they stand in the document.
                let mut first = passage.text.lines().take(2 * headings.len() + 1);
                let stands = first.any(|line| line.contains(heading));
                if !stands {
                    sheet.write(&format!("{} ", "#".repeat(depth + 1)), None);
                    sheet.write(heading, Some((leaf, true)));
                    sheet.write("\n\n", None);
                }
            }
            sheet.write(&passage.text, Some((leaf, false)));
            sheet.write("\n\n", None);
            under = headings;
        }
        sheet
    }

    fn write(&mut self, text: &str, part: Option<(usize, bool)>) {
        let start = self.text.len();
        self.text.push_str(text);
        if let Some((leaf, heading)) = part {
            self.parts.push(Part { at: start..self.text.len(), leaf, heading });
        }
    }

    /// A span of the whole as one of a passage; what is said in a heading stands nowhere in the
    /// passage below it, and is of no length at its beginning.
    pub(super) fn place(&self, span: Span) -> Option<Span> {
        let part = self.parts.iter().find(|part| part.at.contains(&span.start))?;
        if part.heading {
            return Some(Span { leaf: part.leaf, start: 0, end: 0 });
        }
        let end = span.end.min(part.at.end) - part.at.start;
        Some(Span { leaf: part.leaf, start: span.start - part.at.start, end })
    }

    /// The words of a span.
    pub(super) fn words(&self, span: Span) -> Option<&str> {
        self.text.get(span.start..span.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(id: i64, heading: &str, text: &str) -> Passage {
        Passage {
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

    fn span(sheet: &Sheet, words: &str) -> Span {
        let start = sheet.text.find(words).unwrap();
        Span { leaf: 0, start, end: start + words.len() }
    }

    #[test]
    fn a_document_is_one_text_again_and_every_span_finds_its_passage() {
        let passages = [
            passage(1, "Meeting", "# Meeting\n\nWe met."),
            passage(2, "Meeting > Dates", "In May."),
            passage(3, "Meeting > Dates", "Or in June."),
        ];
        let sheet = Sheet::of(&passages);
        let whole = "# Meeting\n\nWe met.\n\n## Dates\n\nIn May.\n\nOr in June.\n\n";
        assert_eq!(sheet.text, whole);
        let june = sheet.place(span(&sheet, "June")).unwrap();
        assert_eq!((june.leaf, &passages[2].text[june.start..june.end]), (2, "June"));
        let dates = sheet.place(span(&sheet, "Dates")).unwrap();
        assert_eq!(dates, Span { leaf: 1, start: 0, end: 0 });
        assert_eq!(sheet.place(span(&sheet, "## ")), None);
        let across = sheet.place(span(&sheet, "May.\n\nOr")).unwrap();
        assert_eq!(&passages[1].text[across.start..across.end], "May.");
    }
}
