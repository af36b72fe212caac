//! Finds where the values of a YAML document are in its text, and what introduces each of them.
//!
//! The parser reports the positions of values; dashes and colons are found in the text.

use super::document::{YamlDocument, YamlPathStep, unusual_layout};
use super::render::YamlIndentation;
use crate::EditError;
use crate::syntax::yaml::node::{YamlNode, YamlNodeKind};

/// A value with its position in the text.
pub(super) struct YamlSpan<'d> {
    /// The value; `None` for the root of an empty document.
    pub node: Option<&'d YamlNode>,
    /// The offset after its introduction: the colon of its key, or its dash.
    pub head: usize,
    /// The start of its key or dash; in brackets and at the root, the start of the value itself.
    pub start: usize,
    /// The end of the value; equals `head` if the value is empty.
    pub end: usize,
    /// What introduces it.
    pub marker: YamlValueMarker,
    /// Whether the value is inside brackets or braces.
    pub in_flow: bool,
}

/// What introduces a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum YamlValueMarker {
    Nothing,
    Key,
    Dash,
}

impl YamlSpan<'_> {
    /// Returns the start of the value's text.
    pub fn body(&self) -> usize {
        self.node.map_or(self.head, |node| node.start)
    }
}

impl YamlDocument {
    /// Returns the value at a path; `None` if it is not written there itself.
    pub(super) fn find_span(
        &self,
        path: &[YamlPathStep],
    ) -> Result<Option<YamlSpan<'_>>, EditError> {
        let root = self.root.as_ref();
        let (start, end) = root.map_or((0, 0), |root| (root.start, root.end));
        let mut slot = YamlSpan {
            node: root,
            head: 0,
            start,
            end,
            marker: YamlValueMarker::Nothing,
            in_flow: false,
        };
        for at in path {
            let entries = self.child_spans(&slot)?;
            let index = match (at, slot.node.map(|node| &node.kind)) {
                (YamlPathStep::Item(index), _) => Some(*index),
                (YamlPathStep::Key(key), Some(YamlNodeKind::Table { members, .. })) => members.iter().position(
                    |(it, _)| matches!(&it.kind, YamlNodeKind::Scalar { text, .. } if text == key),
                ),
                (YamlPathStep::Key(_), _) => None,
            };
            let found = index.and_then(|index| entries.into_iter().nth(index));
            let Some(found) = found else { return Ok(None) };
            slot = found;
        }
        Ok(Some(slot))
    }

    /// Returns the direct children of a value.
    pub(super) fn child_spans<'d>(
        &self,
        slot: &YamlSpan<'d>,
    ) -> Result<Vec<YamlSpan<'d>>, EditError> {
        let Some(node) = slot.node else { return Ok(Vec::new()) };
        match &node.kind {
            YamlNodeKind::Scalar { .. } => Ok(Vec::new()),
            YamlNodeKind::Alias(_) => Err(EditError::Unsupported(
                "the path leads through an alias; replace the alias by its value".to_owned(),
            )),
            YamlNodeKind::Table { members, flow } => {
                let in_flow = slot.in_flow || *flow;
                let entry = |(key, value): &'d (YamlNode, YamlNode)| {
                    let colon = self.colon(key.end).ok_or_else(unusual_layout)?;
                    self.entry_span(value, key.start, colon + 1, YamlValueMarker::Key, in_flow)
                };
                members.iter().map(entry).collect()
            }
            YamlNodeKind::List { items, flow } => {
                if slot.in_flow || *flow {
                    let entry = |item: &'d YamlNode| {
                        self.entry_span(item, item.start, item.start, YamlValueMarker::Dash, true)
                    };
                    return items.iter().map(entry).collect();
                }
                self.list_item_spans(slot, node, items)
            }
        }
    }

    /// Returns the items of a list written with dashes.
    fn list_item_spans<'d>(
        &self,
        slot: &YamlSpan<'d>,
        list: &YamlNode,
        items: &'d [YamlNode],
    ) -> Result<Vec<YamlSpan<'d>>, EditError> {
        let mut entries: Vec<YamlSpan<'d>> = Vec::with_capacity(items.len());
        for item in items {
            let dash = match entries.last() {
                Some(last) => self.dash(last.end, self.column(entries[0].start)),
                // The parser reports the position of the first dash only if it is indented.
                None if self.is_dash(list.body) && item.start > list.body => Some(list.body),
                None => self.dash(slot.head, self.column(slot.start)),
            };
            let dash = dash.ok_or_else(unusual_layout)?;
            entries.push(self.entry_span(item, dash, dash + 1, YamlValueMarker::Dash, false)?);
        }
        Ok(entries)
    }

    fn entry_span<'d>(
        &self,
        node: &'d YamlNode,
        start: usize,
        head: usize,
        by: YamlValueMarker,
        in_flow: bool,
    ) -> Result<YamlSpan<'d>, EditError> {
        let mut slot = YamlSpan { node: Some(node), head, start, end: head, marker: by, in_flow };
        let is_open = |flow: bool| !flow && !in_flow;
        slot.end = match &node.kind {
            YamlNodeKind::List { flow, .. } | YamlNodeKind::Table { flow, .. }
                if is_open(*flow) =>
            {
                self.child_spans(&slot)?.last().map_or(node.end, |last| last.end)
            }
            _ => node.end.max(head),
        };
        Ok(slot)
    }

    /// Returns the offset of the colon after a key.
    fn colon(&self, from: usize) -> Option<usize> {
        let rest = self.text.get(from..)?;
        let at = from + (rest.len() - rest.trim_start().len());
        self.text[at..].starts_with(':').then_some(at)
    }

    fn is_dash(&self, at: usize) -> bool {
        let rest = self.text[at..].strip_prefix('-');
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
    }

    /// Returns the first dash in a column, on a line after an offset.
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

    /// Returns the indentation of this document: that of its first nested table and list.
    pub(super) fn indentation(&self) -> YamlIndentation {
        let mut found = (None, None);
        if let Ok(Some(root)) = self.find_span(&[]) {
            self.measure_indentation(&root, &mut found);
        }
        let table = found.0.unwrap_or(2);
        YamlIndentation { table, list: found.1.unwrap_or(table) }
    }

    fn measure_indentation(&self, slot: &YamlSpan<'_>, found: &mut (Option<usize>, Option<usize>)) {
        for entry in self.child_spans(slot).unwrap_or_default() {
            let inner = self.child_spans(&entry).unwrap_or_default();
            if let (YamlValueMarker::Key, Some(first)) =
                (entry.marker, inner.first().filter(|it| !it.in_flow))
            {
                let deeper = self.column(first.start).checked_sub(self.column(entry.start));
                match first.marker {
                    YamlValueMarker::Dash => found.1 = found.1.or(deeper),
                    _ => found.0 = found.0.or(deeper.filter(|deeper| *deeper > 0)),
                }
            }
            self.measure_indentation(&entry, found);
        }
    }
}
