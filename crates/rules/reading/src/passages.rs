//! Makes passages of the blocks a document consists of: short neighbours under one heading become
//! one, long ones are parted where it hurts least.
//!
//! What a block is depends on the format and is found by its reader. Blocks come in the order of the
//! text, and all of them that hold a letter or a digit are in some passage, unless the document has
//! more than are kept.

use std::ops::Range;

use crate::{Passage, Place, parting};

/// A passage is about so long, in bytes: a few paragraphs.
const USUAL: usize = 1200;

/// Prose is parted where it gets longer than this.
pub(crate) const LONG: usize = 1600;

/// What belongs together (a listing, a table, a function) is parted where it gets longer than this.
pub(crate) const LONGEST: usize = 4000;

/// Less than this is not worth a passage if its neighbour can take it.
const SHORT: usize = 400;

/// A document has at most so many passages: more than any book.
pub(crate) const MOST: usize = 1 << 14;

/// How a block may be parted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Anywhere between sentences.
    Prose,
    /// Only if it is too long for a passage.
    Whole,
}

/// Tells the place of a piece of text.
#[derive(Debug)]
pub(crate) enum Places {
    /// By counting the ends of lines: how many there are before a byte.
    Counted {
        /// Up to where they are counted.
        at: usize,
        /// The line there.
        line: u32,
    },
    /// From a list: the line that begins to be read at each byte, and how far it was looked at.
    Marked {
        /// Bytes and lines.
        marks: Vec<(usize, u32)>,
        /// The mark of the last place asked for.
        at: usize,
    },
    /// It is all one page.
    Page(u32),
}

impl Places {
    /// For a text that is as it stands in the document.
    pub(crate) fn counted() -> Self {
        Self::Counted { at: 0, line: 1 }
    }

    /// The place of a piece. Pieces are asked for in their order.
    fn of(&mut self, text: &str, piece: &Range<usize>) -> Place {
        if let Self::Page(page) = self {
            return Place::Page(*page);
        }
        let first = self.line(text, piece.start);
        Place::Lines { first, last: self.line(text, piece.end.saturating_sub(1)) }
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

/// Takes blocks and makes passages.
#[derive(Debug)]
pub(crate) struct Passages<'a> {
    text: &'a str,
    places: Places,
    heading: String,
    open: Range<usize>,
    kind: Kind,
    made: Vec<Passage>,
}

impl<'a> Passages<'a> {
    pub(crate) fn new(text: &'a str, places: Places) -> Self {
        let heading = String::new();
        Self { text, places, heading, open: 0..0, kind: Kind::Prose, made: Vec::new() }
    }

    /// Whether no further passage is kept.
    pub(crate) fn is_full(&self) -> bool {
        self.made.len() >= MOST
    }

    /// Takes the next block.
    pub(crate) fn add(&mut self, block: Range<usize>, heading: &str, kind: Kind) {
        let block = trimmed(self.text, block);
        if block.is_empty() || self.is_full() {
            return;
        }
        if self.heading != heading {
            self.close();
            self.heading.clear();
            self.heading.push_str(heading);
        }
        if !self.joins(&block, kind) {
            self.close();
        }
        if self.open.is_empty() {
            self.open = block;
            self.kind = kind;
        } else {
            self.open.end = block.end;
            self.kind = if kind == Kind::Whole { kind } else { self.kind };
        }
        self.part();
    }

    fn joins(&self, block: &Range<usize>, kind: Kind) -> bool {
        let both = block.end - self.open.start;
        let is_short = self.open.len() < SHORT || block.len() < SHORT / 2;
        let most = if kind == Kind::Whole { LONGEST } else { LONG };
        // What is parted anyway may begin with what came before it.
        both <= USUAL
            || (is_short && both <= most)
            || (self.open.len() < SHORT && block.len() > most)
    }

    /// Parts what is open while it is too long. The last part stays open.
    fn part(&mut self) {
        let most = if self.kind == Kind::Whole { LONGEST } else { LONG };
        if self.open.len() <= most {
            return;
        }
        while self.open.len() > LONG && !self.is_full() {
            let cut = parting::place(self.text, &self.open, LONG);
            self.keep(trimmed(self.text, self.open.start..cut));
            self.open = trimmed(self.text, cut..self.open.end);
        }
        self.kind = Kind::Prose;
    }

    /// Makes a passage of what is open.
    fn close(&mut self) {
        let piece = std::mem::replace(&mut self.open, 0..0);
        self.keep(piece);
    }

    fn keep(&mut self, piece: Range<usize>) {
        let text = &self.text[piece.clone()];
        if self.is_full() || !text.contains(char::is_alphanumeric) {
            return;
        }
        let place = self.places.of(self.text, &piece);
        self.made.push(Passage { heading: self.heading.clone(), text: text.to_owned(), place });
    }

    /// The passages, and what was left out.
    pub(crate) fn finish(mut self) -> (Vec<Passage>, Option<String>) {
        self.close();
        let cut = self.is_full().then(|| left_out(self.made.last()));
        (self.made, cut)
    }
}

/// What is said of a document that has more passages than are kept.
pub(crate) fn left_out(last: Option<&Passage>) -> String {
    let to = match last.map(|passage| passage.place) {
        Some(Place::Lines { last, .. }) => format!("line {last}"),
        Some(Place::Page(page)) => format!("page {page}"),
        None => "its beginning".to_owned(),
    };
    format!("it is too large: only its first {MOST} passages are kept, up to {to}")
}

/// Without the blank lines before it and the blanks behind it.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let piece = text[range.clone()].trim_end();
    let blank = piece.len() - piece.trim_start().len();
    // The first line keeps its indentation.
    let start = piece[..blank].rfind('\n').map_or(0, |at| at + 1);
    let is_mid_line = start == 0 && !(range.start == 0 || text[..range.start].ends_with('\n'));
    let start = if is_mid_line { blank } else { start };
    range.start + start..range.start + piece.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str, blocks: &[(Range<usize>, &str, Kind)]) -> Vec<Passage> {
        let mut passages = Passages::new(text, Places::counted());
        for (block, heading, kind) in blocks {
            passages.add(block.clone(), heading, *kind);
        }
        passages.finish().0
    }

    #[test]
    fn short_neighbours_under_one_heading_are_one() {
        let text = "one\n\ntwo\n\nthree";
        let kind = Kind::Prose;
        let passages = made(text, &[(0..3, "A", kind), (5..8, "A", kind), (10..15, "B", kind)]);
        let texts: Vec<_> = passages.iter().map(|p| (&*p.heading, &*p.text, p.place)).collect();
        let lines = |first, last| Place::Lines { first, last };
        assert_eq!(texts, [("A", "one\n\ntwo", lines(1, 3)), ("B", "three", lines(5, 5))]);
    }

    #[test]
    fn a_line_without_end_is_parted() {
        let text = "x".repeat(100_000);
        let passages = made(&text, &[(0..text.len(), "", Kind::Whole)]);
        assert!(passages.iter().all(|passage| passage.text.len() <= LONG));
        assert_eq!(passages.iter().map(|passage| passage.text.len()).sum::<usize>(), text.len());
    }

    #[test]
    fn what_belongs_together_stays_together_where_it_fits() {
        let text = "let x = 1;\n".repeat(300);
        assert_eq!(made(&text, &[(0..text.len(), "", Kind::Whole)]).len(), 1);
        assert!(made(&text, &[(0..text.len(), "", Kind::Prose)]).len() > 1);
    }

    #[test]
    fn a_document_without_end_is_cut_and_says_so() {
        let text = "word and word. ".repeat(2 * MOST * LONG / 15);
        let mut passages = Passages::new(&text, Places::counted());
        passages.add(0..text.len(), "", Kind::Prose);
        let (made, cut) = passages.finish();
        assert_eq!(made.len(), MOST);
        assert!(cut.is_some_and(|cut| cut.contains("too large") && cut.contains("line 1")));
    }

    #[test]
    fn what_says_nothing_is_no_passage() {
        assert!(made("---\n\n***", &[(0..8, "", Kind::Prose)]).is_empty());
    }
}
