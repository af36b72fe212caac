//! Edits comma-separated lists in brackets: objects and arrays of JSON, inline tables and arrays of
//! TOML. Added and removed items follow the layout of the others: on separate lines or in a row,
//! with or without a trailing comma.

use std::ops::Range;

use super::lines::{CommentStyle, indent, line_start, lines_range, newline, splice};

/// A list in a text.
#[derive(Debug)]
pub(super) struct BracketedList {
    /// The range including both brackets.
    pub range: Range<usize>,
    /// The ranges of its items, in order.
    pub items: Vec<Range<usize>>,
    pub comments: CommentStyle,
}

/// The layout of the first item of an empty list.
#[derive(Debug, Clone, Copy)]
pub(super) enum EmptyListLayout<'a> {
    /// On a separate line, with this additional indentation.
    Below(&'a str),
    /// Between the brackets, with this text on both sides.
    Within(&'a str),
}

impl BracketedList {
    fn inside(&self) -> Range<usize> {
        self.range.start + 1..self.range.end - 1
    }

    /// Returns the offset of the comma after an item.
    fn comma(&self, text: &str, item: usize) -> Option<usize> {
        let at = self.comments.skip_space_and_comments(text, self.items[item].end);
        text[at..].starts_with(',').then_some(at)
    }

    /// Returns the end of an item, including the comma after it.
    fn end(&self, text: &str, item: usize) -> usize {
        self.comma(text, item).map_or(self.items[item].end, |comma| comma + 1)
    }

    /// Adds an item at the end. `item` receives the indentation of its line, if it has a separate
    /// line.
    pub fn add(
        &self,
        text: &str,
        first: EmptyListLayout<'_>,
        item: impl Fn(Option<&str>) -> String,
    ) -> String {
        let Some(last) = self.items.len().checked_sub(1) else {
            return self.add_first(text, first, item);
        };
        let trailing = self.comma(text, last);
        let behind = self.end(text, last);
        let own_line = self.comments.is_first_on_line(text, self.items[last].start);
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
            // Both changes are at the same offset, so they become one, in this order.
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
        first: EmptyListLayout<'_>,
        item: impl Fn(Option<&str>) -> String,
    ) -> String {
        let inside = self.inside();
        let is_blank = text[inside.clone()].trim().is_empty();
        let outer = indent(text, self.range.start);
        let (range, put) = match first {
            EmptyListLayout::Below(unit) => {
                let indent = format!("{outer}{unit}");
                let line = format!("{}{indent}{}", newline(text), item(Some(&indent)));
                match self.comments.rest_of_line(text, inside.start) {
                    _ if is_blank => (inside, format!("{line}{}{outer}", newline(text))),
                    Some(end) => (end..end, line),
                    None => (inside.end..inside.end, item(None)),
                }
            }
            EmptyListLayout::Within(pad) if is_blank => {
                (inside, format!("{pad}{}{pad}", item(None)))
            }
            EmptyListLayout::Within(_) => (inside.end..inside.end, item(None)),
        };
        splice(text, vec![(range, put)])
    }

    /// Removes an item, with the comments right above it if it has separate lines.
    pub fn remove(&self, text: &str, item: usize) -> String {
        let mut changes = match self.own_lines(text, item) {
            Some(lines) => vec![lines],
            None => vec![self.inline_item_range(text, item)],
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

    /// Returns the lines of an item that contain nothing else.
    fn own_lines(&self, text: &str, item: usize) -> Option<Range<usize>> {
        let start = self.items[item].start;
        let end = self.comments.rest_of_line(text, self.end(text, item))?;
        let floor = match item {
            0 => self.range.start + 1,
            _ => self.end(text, item - 1),
        };
        let line = line_start(text, start);
        (self.comments.is_first_on_line(text, start) && line >= floor).then(|| {
            lines_range(text, self.comments.attached_comments_start(text, line, floor), end)
        })
    }

    /// Returns the range of an item that shares its line with others.
    fn inline_item_range(&self, text: &str, item: usize) -> Range<usize> {
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
        // A line that ends in a comment must keep its line break.
        let is_row = space == floor || !text[space..start].contains('\n');
        let from = if item > 0 && is_row { space } else { start };
        from..behind.max(end)
    }
}
