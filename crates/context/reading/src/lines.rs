//! The lines of a text with their positions.

use std::ops::Range;

/// A line without its line ending.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextLine<'a> {
    /// The start in the text, in bytes.
    pub(crate) start: usize,
    /// The text without the line ending.
    pub(crate) text: &'a str,
}

impl TextLine<'_> {
    /// Returns the end of the line, before the line ending.
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Returns true if the line is blank.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim_ascii().is_empty()
    }

    /// Returns the indentation in columns. A tab advances to the next multiple of four.
    pub(crate) fn indent(&self) -> usize {
        let mut columns = 0;
        for byte in self.text.bytes() {
            match byte {
                b' ' => columns += 1,
                b'\t' => columns = columns / 4 * 4 + 4,
                _ => break,
            }
        }
        columns
    }
}

/// Returns the lines of a part of a text.
pub(crate) fn lines(text: &str, part: Range<usize>) -> impl Iterator<Item = TextLine<'_>> {
    let mut start = part.start;
    let part = &text[..part.end];
    std::iter::from_fn(move || {
        let rest = part.get(start..).filter(|rest| !rest.is_empty())?;
        let end = rest.find('\n').unwrap_or(rest.len());
        let line = &rest[..end];
        let found = TextLine { start, text: line.strip_suffix('\r').unwrap_or(line) };
        start += end + 1;
        Some(found)
    })
}

/// Joins the words of a text with single blanks.
pub(crate) fn join_words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
