//! Where the values of a YAML document stand in its text, and what introduces each of them.
//!
//! The parser gives the places of values; those of dashes and colons are found in the text.

use super::layout::{At, Document, odd};
use super::render::Habits;
use crate::EditError;
use crate::syntax::yaml::raw::{Kind, Raw};

/// A value and its surroundings.
pub(super) struct Slot<'d> {
    /// The value; the root of an empty document has none.
    pub node: Option<&'d Raw>,
    /// Behind what introduces it: the colon of its key, its dash.
    pub head: usize,
    /// Where its key or dash begins; the value itself in brackets and at the top.
    pub start: usize,
    /// Where it ends, which is the head if there is nothing.
    pub end: usize,
    /// What introduces it.
    pub by: By,
    /// Whether it stands within brackets or braces.
    pub in_flow: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Nothing,
    Key,
    Dash,
}

impl Slot<'_> {
    /// Where its text begins.
    pub fn body(&self) -> usize {
        self.node.map_or(self.head, |node| node.start)
    }
}

impl Document {
    /// The value at a path; `None` if it does not stand there itself.
    pub(super) fn slot(&self, path: &[At]) -> Result<Option<Slot<'_>>, EditError> {
        let root = self.root.as_ref();
        let (start, end) = root.map_or((0, 0), |root| (root.start, root.end));
        let mut slot = Slot { node: root, head: 0, start, end, by: By::Nothing, in_flow: false };
        for at in path {
            let entries = self.entries(&slot)?;
            let index = match (at, slot.node.map(|node| &node.kind)) {
                (At::Item(index), _) => Some(*index),
                (At::Key(key), Some(Kind::Table { members, .. })) => members.iter().position(
                    |(it, _)| matches!(&it.kind, Kind::Scalar { text, .. } if text == key),
                ),
                (At::Key(_), _) => None,
            };
            let found = index.and_then(|index| entries.into_iter().nth(index));
            let Some(found) = found else { return Ok(None) };
            slot = found;
        }
        Ok(Some(slot))
    }

    /// The values directly inside of one.
    pub(super) fn entries<'d>(&self, slot: &Slot<'d>) -> Result<Vec<Slot<'d>>, EditError> {
        let Some(node) = slot.node else { return Ok(Vec::new()) };
        match &node.kind {
            Kind::Scalar { .. } => Ok(Vec::new()),
            Kind::Alias(_) => Err(EditError::Unsupported(
                "an alias stands on the way; write out what it stands for".to_owned(),
            )),
            Kind::Table { members, flow } => {
                let in_flow = slot.in_flow || *flow;
                let entry = |(key, value): &'d (Raw, Raw)| {
                    let colon = self.colon(key.end).ok_or_else(odd)?;
                    self.entry(value, key.start, colon + 1, By::Key, in_flow)
                };
                members.iter().map(entry).collect()
            }
            Kind::List { items, flow } => {
                if slot.in_flow || *flow {
                    let entry =
                        |item: &'d Raw| self.entry(item, item.start, item.start, By::Dash, true);
                    return items.iter().map(entry).collect();
                }
                self.dashed(slot, node, items)
            }
        }
    }

    /// The items of a list that is written with dashes.
    fn dashed<'d>(
        &self,
        slot: &Slot<'d>,
        list: &Raw,
        items: &'d [Raw],
    ) -> Result<Vec<Slot<'d>>, EditError> {
        let mut entries: Vec<Slot<'d>> = Vec::with_capacity(items.len());
        for item in items {
            let dash = match entries.last() {
                Some(last) => self.dash(last.end, self.column(entries[0].start)),
                // The parser gives the place of the first dash only where it is indented.
                None if self.is_dash(list.body) && item.start > list.body => Some(list.body),
                None => self.dash(slot.head, self.column(slot.start)),
            };
            let dash = dash.ok_or_else(odd)?;
            entries.push(self.entry(item, dash, dash + 1, By::Dash, false)?);
        }
        Ok(entries)
    }

    fn entry<'d>(
        &self,
        node: &'d Raw,
        start: usize,
        head: usize,
        by: By,
        in_flow: bool,
    ) -> Result<Slot<'d>, EditError> {
        let mut slot = Slot { node: Some(node), head, start, end: head, by, in_flow };
        let is_open = |flow: bool| !flow && !in_flow;
        slot.end = match &node.kind {
            Kind::List { flow, .. } | Kind::Table { flow, .. } if is_open(*flow) => {
                self.entries(&slot)?.last().map_or(node.end, |last| last.end)
            }
            _ => node.end.max(head),
        };
        Ok(slot)
    }

    /// The colon behind a key.
    fn colon(&self, from: usize) -> Option<usize> {
        let rest = self.text.get(from..)?;
        let at = from + (rest.len() - rest.trim_start().len());
        self.text[at..].starts_with(':').then_some(at)
    }

    fn is_dash(&self, at: usize) -> bool {
        let rest = self.text[at..].strip_prefix('-');
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
    }

    /// The first dash at a column, on a line after a place.
    fn dash(&self, after: usize, column: usize) -> Option<usize> {
        let mut line = self.line_end(after);
        while let Some(length) = self.text[line..].find('\n') {
            line += length + 1;
            let indent = self.text.get(line..line + column);
            if indent.is_some_and(|it| it.bytes().all(|byte| byte == b' '))
                && self.is_dash(line + column)
            {
                return Some(line + column);
            }
        }
        None
    }

    /// How this document indents: as its first nested table and list do.
    pub(super) fn habits(&self) -> Habits {
        let mut found = (None, None);
        if let Ok(Some(root)) = self.slot(&[]) {
            self.look_at(&root, &mut found);
        }
        let table = found.0.unwrap_or(2);
        Habits { table, list: found.1.unwrap_or(table) }
    }

    fn look_at(&self, slot: &Slot<'_>, found: &mut (Option<usize>, Option<usize>)) {
        for entry in self.entries(slot).unwrap_or_default() {
            let inner = self.entries(&entry).unwrap_or_default();
            if let (By::Key, Some(first)) = (entry.by, inner.first().filter(|it| !it.in_flow)) {
                let deeper = self.column(first.start).checked_sub(self.column(entry.start));
                match first.by {
                    By::Dash => found.1 = found.1.or(deeper),
                    _ => found.0 = found.0.or(deeper.filter(|deeper| *deeper > 0)),
                }
            }
            self.look_at(&entry, found);
        }
    }
}
