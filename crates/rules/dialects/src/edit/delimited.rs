//! Lists between brackets, their items parted by commas: objects and arrays of JSON, inline tables
//! and arrays of TOML. An item is added or taken out in the way the others are laid out: on lines of
//! their own or in a row, with or without a comma after the last.

use std::ops::Range;

use super::lines::{Comments, cut, indent, line_start, newline, splice};

/// A list in a text.
#[derive(Debug)]
pub(super) struct Delimited {
    /// From the opening to behind the closing bracket.
    pub range: Range<usize>,
    /// Its items, in order.
    pub items: Vec<Range<usize>>,
    pub comments: Comments,
}

/// How the items of a list that has none yet are laid out.
#[derive(Debug, Clone, Copy)]
pub(super) enum First<'a> {
    /// On a line of its own, so much further in.
    Below(&'a str),
    /// Between the brackets, with this around it.
    Within(&'a str),
}

impl Delimited {
    fn inside(&self) -> Range<usize> {
        self.range.start + 1..self.range.end - 1
    }

    /// Where the comma after an item is.
    fn comma(&self, text: &str, item: usize) -> Option<usize> {
        let at = self.comments.skip(text, self.items[item].end);
        text[at..].starts_with(',').then_some(at)
    }

    /// Where an item ends, with the comma after it.
    fn end(&self, text: &str, item: usize) -> usize {
        self.comma(text, item).map_or(self.items[item].end, |comma| comma + 1)
    }

    /// Adds an item at the end. `item` is told the indentation of its line, if it has one of its
    /// own.
    pub fn add(
        &self,
        text: &str,
        first: First<'_>,
        item: impl Fn(Option<&str>) -> String,
    ) -> String {
        let Some(last) = self.items.len().checked_sub(1) else {
            return self.add_first(text, first, item);
        };
        let trailing = self.comma(text, last);
        let behind = self.end(text, last);
        let own_line = self.comments.is_first(text, self.items[last].start);
        let mut changes = Vec::new();
        if trailing.is_none() {
            changes.push((behind..behind, ",".to_owned()));
        }
        let comma = if trailing.is_some() { "," } else { "" };
        let put = match own_line {
            true => {
                let indent = indent(text, self.items[last].start);
                format!("{}{indent}{}{comma}", newline(text), item(Some(indent)))
            }
            false => format!(" {}{comma}", item(None)),
        };
        let line = self.comments.rest_of_line(text, behind).filter(|_| own_line);
        match (line, changes.last_mut()) {
            // Both go to the same place: one change, in this order.
            (None, Some((_, before))) => before.push_str(&put),
            (Some(line), Some((_, before))) if line == behind => before.push_str(&put),
            (line, _) => {
                let at = line.unwrap_or(behind);
                changes.push((at..at, put));
            }
        }
        splice(text, changes)
    }

    fn add_first(
        &self,
        text: &str,
        first: First<'_>,
        item: impl Fn(Option<&str>) -> String,
    ) -> String {
        let inside = self.inside();
        let is_blank = text[inside.clone()].trim().is_empty();
        let outer = indent(text, self.range.start);
        let (range, put) = match first {
            First::Below(unit) => {
                let indent = format!("{outer}{unit}");
                let line = format!("{}{indent}{}", newline(text), item(Some(&indent)));
                match self.comments.rest_of_line(text, inside.start) {
                    _ if is_blank => (inside, format!("{line}{}{outer}", newline(text))),
                    Some(end) => (end..end, line),
                    None => (inside.end..inside.end, item(None)),
                }
            }
            First::Within(pad) if is_blank => (inside, format!("{pad}{}{pad}", item(None))),
            First::Within(_) => (inside.end..inside.end, item(None)),
        };
        splice(text, vec![(range, put)])
    }

    /// Takes an item out, with the comments right above it if it has lines of its own.
    pub fn remove(&self, text: &str, item: usize) -> String {
        let mut changes = match self.own_lines(text, item) {
            Some(lines) => vec![lines],
            None => vec![self.in_row(text, item)],
        };
        let is_last = item + 1 == self.items.len();
        if is_last && item > 0 && self.comma(text, item).is_none() {
            let comma = self.comma(text, item - 1);
            changes.extend(comma.map(|comma| comma..comma + 1));
        }
        let removed = changes.iter().map(ExactSizeIterator::len).sum::<usize>();
        let text = splice(text, changes.into_iter().map(|it| (it, String::new())).collect());
        let inside = self.range.start + 1..self.range.end - 1 - removed;
        match self.items.len() == 1 && text[inside.clone()].trim().is_empty() {
            true => splice(&text, vec![(inside, String::new())]),
            false => text,
        }
    }

    /// The lines of an item that nothing else stands on.
    fn own_lines(&self, text: &str, item: usize) -> Option<Range<usize>> {
        let start = self.items[item].start;
        let end = self.comments.rest_of_line(text, self.end(text, item))?;
        let floor = match item {
            0 => self.range.start + 1,
            _ => self.end(text, item - 1),
        };
        let line = line_start(text, start);
        (self.comments.is_first(text, start) && line >= floor)
            .then(|| cut(text, self.comments.attached(text, line, floor), end))
    }

    /// The place of an item that stands beside others.
    fn in_row(&self, text: &str, item: usize) -> Range<usize> {
        let Range { start, end } = self.items[item].clone();
        let behind = self.end(text, item);
        if let Some(next) = self.items.get(item + 1) {
            let gap = &text[behind..next.start];
            let is_plain = !gap.contains('\n') && gap.trim().is_empty();
            return start..if is_plain { next.start } else { behind };
        }
        let floor = match item {
            0 => self.range.start + 1,
            _ => self.end(text, item - 1),
        };
        let space = text[..start].trim_end().len().max(floor);
        // A line that ends in a comment must still end.
        let is_row = space == floor || !text[space..start].contains('\n');
        let from = if item > 0 && is_row { space } else { start };
        from..behind.max(end)
    }
}
