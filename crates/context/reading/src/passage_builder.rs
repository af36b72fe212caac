//! Builds passages from the blocks of a document: merges short neighbours under one heading and
//! splits long ones.
//!
//! The parser of a format finds the blocks and adds them in order. Every block with a letter or a
//! digit ends up in a passage, unless the document exceeds the maximum number of passages.

use std::ops::Range;

use crate::{ParsedDocument, Passage, PassageLocation, splitting};

/// The usual length of a passage in bytes: a few paragraphs.
const USUAL: usize = 1200;

/// The length above which prose is split.
const LONG: usize = 1600;

/// The length above which a unit (a code block, a table, a function) is split.
const LONGEST: usize = 4000;

/// The length below which a passage is merged with a neighbour if possible.
const SHORT: usize = 400;

/// The maximum number of passages of a document: more than any book has.
pub(crate) const MOST: usize = 1 << 14;

/// How a block can be split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockSplitting {
    /// Between any sentences.
    Prose,
    /// Only if it is too long for a passage.
    Whole,
}

/// Determines the location of a piece of text.
#[derive(Debug)]
pub(crate) enum PassageLocationTracker {
    /// Counts line endings.
    Counted {
        /// The offset up to which they are counted.
        at: usize,
        /// The line at that offset.
        line: u32,
    },
    /// Looks up lines in a list of offsets, for text that was decoded.
    Marked {
        /// Offsets and the lines that begin there.
        marks: Vec<(usize, u32)>,
        /// The index of the last mark used.
        at: usize,
    },
    /// The whole text is one page.
    Page(u32),
}

impl PassageLocationTracker {
    /// Returns a tracker for text that is unchanged from the file.
    pub(crate) fn counted() -> Self {
        Self::Counted { at: 0, line: 1 }
    }

    /// Returns the location of a piece. Pieces must be passed in order.
    fn locate(&mut self, text: &str, piece: &Range<usize>) -> PassageLocation {
        if let Self::Page(page) = self {
            return PassageLocation::Page(*page);
        }
        let first = self.line(text, piece.start);
        PassageLocation::Lines(first, self.line(text, piece.end.saturating_sub(1)))
    }

    fn line(&mut self, text: &str, to: usize) -> u32 {
        match self {
            Self::Counted { at, line } => {
                let between = text.as_bytes().get(*at..to).unwrap_or_default();
                let ends = between.iter().filter(|byte| **byte == b'\n').count();
                *line = line.saturating_add(u32::try_from(ends).unwrap_or(u32::MAX));
                *at = to.max(*at);
                *line
            }
            Self::Marked { marks, at } => {
                while marks.get(*at + 1).is_some_and(|next| next.0 <= to) {
                    *at += 1;
                }
                marks.get(*at).map_or(1, |mark| mark.1)
            }
            Self::Page(page) => *page,
        }
    }
}

/// Builds passages from blocks. Every call gets the text, which may grow between the calls.
#[derive(Debug)]
pub(crate) struct PassageBuilder {
    locations: PassageLocationTracker,
    heading: String,
    open: Range<usize>,
    kind: BlockSplitting,
    made: Vec<Passage>,
}

impl PassageBuilder {
    pub(crate) fn new(locations: PassageLocationTracker) -> Self {
        let (heading, made) = Default::default();
        Self { locations, heading, open: 0..0, kind: BlockSplitting::Prose, made }
    }

    /// Returns true if the maximum number of passages is reached.
    pub(crate) fn is_full(&self) -> bool {
        self.made.len() >= MOST
    }

    /// Notes that this line of the file begins at this offset of decoded text.
    pub(crate) fn mark(&mut self, offset: usize, line: u32) {
        let PassageLocationTracker::Marked { marks, .. } = &mut self.locations else { return };
        while marks.last().is_some_and(|mark| mark.0 >= offset) {
            marks.pop();
        }
        if marks.last().is_none_or(|mark| mark.1 != line) {
            marks.push((offset, line));
        }
    }

    /// Adds the next block.
    pub(crate) fn add(
        &mut self,
        text: &str,
        block: Range<usize>,
        heading: &str,
        kind: BlockSplitting,
    ) {
        let block = trimmed(text, block);
        if block.is_empty() || self.is_full() {
            return;
        }
        if self.heading != heading {
            self.close(text);
            self.heading.clear();
            self.heading.push_str(heading);
        }
        if !self.can_join(&block, kind) {
            self.close(text);
        }
        if self.open.is_empty() {
            self.open = block;
            self.kind = kind;
        } else {
            self.open.end = block.end;
            self.kind = if kind == BlockSplitting::Whole { kind } else { self.kind };
        }
        self.split_open(text);
    }

    fn can_join(&self, block: &Range<usize>, kind: BlockSplitting) -> bool {
        let both = block.end - self.open.start;
        let is_short = self.open.len() < SHORT || block.len() < SHORT / 2;
        let most = if kind == BlockSplitting::Whole { LONGEST } else { LONG };
        // A block that is split anyway can begin with the previous text.
        both <= USUAL
            || (is_short && both <= most)
            || (self.open.len() < SHORT && block.len() > most)
    }

    /// Splits the open text while it is too long. The last part stays open.
    fn split_open(&mut self, text: &str) {
        let most = if self.kind == BlockSplitting::Whole { LONGEST } else { LONG };
        if self.open.len() <= most {
            return;
        }
        while self.open.len() > LONG && !self.is_full() {
            let cut = splitting::find_split(text, &self.open, LONG);
            self.push_passage(text, trimmed(text, self.open.start..cut));
            self.open = trimmed(text, cut..self.open.end);
        }
        self.kind = BlockSplitting::Prose;
    }

    /// Turns the open text into a passage.
    fn close(&mut self, text: &str) {
        let piece = std::mem::replace(&mut self.open, 0..0);
        self.push_passage(text, piece);
    }

    fn push_passage(&mut self, text: &str, piece: Range<usize>) {
        let words = &text[piece.clone()];
        if self.is_full() || !words.contains(char::is_alphanumeric) {
            return;
        }
        let place = self.locations.locate(text, &piece);
        self.made.push(Passage { heading: self.heading.clone(), text: words.to_owned(), place });
    }

    /// Returns the passages as a document. It notes what was left out.
    pub(crate) fn finish(mut self, text: &str, title: String) -> ParsedDocument {
        self.close(text);
        let truncation = self.is_full().then(|| truncation_note(self.made.last()));
        ParsedDocument { title, passages: self.made, truncation }
    }
}

/// Returns the note for a document with too many passages.
pub(crate) fn truncation_note(last: Option<&Passage>) -> String {
    let to = match last.map(|passage| passage.place) {
        Some(PassageLocation::Lines(_, last)) => format!("line {last}"),
        Some(PassageLocation::Page(page)) => format!("page {page}"),
        None => "its beginning".to_owned(),
    };
    format!("it is too large: only its first {MOST} passages are kept, up to {to}")
}

/// Returns the range without leading blank lines and trailing blanks.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let piece = text[range.clone()].trim_end();
    let blank = piece.len() - piece.trim_start().len();
    // Keep the indentation of the first line.
    let start = piece[..blank].rfind('\n').map_or(0, |at| at + 1);
    let is_mid_line = start == 0 && !(range.start == 0 || text[..range.start].ends_with('\n'));
    let start = if is_mid_line { blank } else { start };
    range.start + start..range.start + piece.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str, blocks: &[(Range<usize>, &str, BlockSplitting)]) -> Vec<Passage> {
        let mut passages = PassageBuilder::new(PassageLocationTracker::counted());
        for (block, heading, kind) in blocks {
            passages.add(text, block.clone(), heading, *kind);
        }
        passages.finish(text, String::new()).passages
    }

    #[test]
    fn short_neighbours_under_one_heading_are_one() {
        let text = "one\n\ntwo\n\nthree";
        let kind = BlockSplitting::Prose;
        let passages = made(text, &[(0..3, "A", kind), (5..8, "A", kind), (10..15, "B", kind)]);
        let texts: Vec<_> = passages.iter().map(|p| (&*p.heading, &*p.text, p.place)).collect();
        let lines = |first, last| PassageLocation::Lines(first, last);
        assert_eq!(texts, [("A", "one\n\ntwo", lines(1, 3)), ("B", "three", lines(5, 5))]);
    }

    #[test]
    fn a_line_without_end_is_parted() {
        let text = "x".repeat(100_000);
        let passages = made(&text, &[(0..text.len(), "", BlockSplitting::Whole)]);
        assert!(passages.iter().all(|passage| passage.text.len() <= LONG));
        assert_eq!(passages.iter().map(|passage| passage.text.len()).sum::<usize>(), text.len());
    }

    #[test]
    fn what_belongs_together_stays_together_where_it_fits() {
        let text = "let x = 1;\n".repeat(300);
        assert_eq!(made(&text, &[(0..text.len(), "", BlockSplitting::Whole)]).len(), 1);
        assert!(made(&text, &[(0..text.len(), "", BlockSplitting::Prose)]).len() > 1);
    }

    #[test]
    fn a_document_without_end_is_cut_and_says_so() {
        let text = "word and word. ".repeat(2 * MOST * LONG / 15);
        let mut passages = PassageBuilder::new(PassageLocationTracker::counted());
        passages.add(&text, 0..text.len(), "", BlockSplitting::Prose);
        let document = passages.finish(&text, String::new());
        assert_eq!(document.passages.len(), MOST);
        assert!(
            document
                .truncation
                .is_some_and(|cut| cut.contains("too large") && cut.contains("line 1"))
        );
    }

    #[test]
    fn what_says_nothing_is_no_passage() {
        assert!(made("---\n\n***", &[(0..8, "", BlockSplitting::Prose)]).is_empty());
    }
}
