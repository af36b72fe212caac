//! The lines of a text, with their places in it.

use std::ops::Range;

/// A line without its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Where it begins in the text, in bytes.
    pub(crate) start: usize,
    /// Its text, without what ends it.
    pub(crate) text: &'a str,
}

impl Line<'_> {
    /// Where it ends, before what ends it.
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Whether it holds nothing.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim_ascii().is_empty()
    }

    /// How far it is indented. A tab goes to the next fourth column.
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

/// The lines of a part of a text.
pub(crate) fn lines(text: &str, part: Range<usize>) -> impl Iterator<Item = Line<'_>> {
    let mut start = part.start;
    let part = &text[..part.end];
    std::iter::from_fn(move || {
        let rest = part.get(start..).filter(|rest| !rest.is_empty())?;
        let end = rest.find('\n').unwrap_or(rest.len());
        let line = &rest[..end];
        let found = Line { start, text: line.strip_suffix('\r').unwrap_or(line) };
        start += end + 1;
        Some(found)
    })
}
