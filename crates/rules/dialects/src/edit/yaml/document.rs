//! The three operations on a YAML document: add, replace and remove a value, without changing other
//! text. `spans` finds the values.

use toolgate_model::ConfigValue;

use super::render;
use super::spans::{YamlSpan, YamlValueMarker};
use crate::EditError;
use crate::common::tree::{TreeNode, TreeValue};
use crate::edit::lines;
use crate::edit::merge::syntax_error;
use crate::syntax::yaml;
use crate::syntax::yaml::node::{self, YamlNode};

/// One step to an existing value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum YamlPathStep {
    Key(String),
    Item(usize),
}

/// A text with its parsed content.
pub(super) struct YamlDocument {
    pub(super) text: String,
    pub(super) root: Option<YamlNode>,
    /// The content of the whole document.
    pub(super) data: ConfigValue,
}

impl YamlDocument {
    pub fn parse(text: String) -> Result<Self, EditError> {
        let read = node::parse(&text).and_then(|root| {
            let members = root.as_ref().map(yaml::members).transpose()?;
            Ok((root, members.unwrap_or_default()))
        });
        let (root, members) = read.map_err(|error| syntax_error(&text, error))?;
        let data = TreeNode { at: 0, value: TreeValue::Table(members) }.data();
        Ok(Self { text, root, data })
    }

    pub fn data_at(&self, path: &[YamlPathStep]) -> Option<&ConfigValue> {
        path.iter().try_fold(&self.data, |data, at| match (data, at) {
            (data, YamlPathStep::Key(key)) => data.get(key),
            (ConfigValue::List(items), YamlPathStep::Item(index)) => items.get(*index),
            _ => None,
        })
    }

    /// Returns true if a value is written at this path, and not merged in from elsewhere.
    pub fn has(&self, path: &[YamlPathStep]) -> Result<bool, EditError> {
        self.find_span(path).map(|slot| slot.is_some())
    }

    fn span(&self, path: &[YamlPathStep]) -> Result<YamlSpan<'_>, EditError> {
        self.find_span(path)?.ok_or_else(unusual_layout)
    }

    /// Adds a value at the end of a table or a list.
    pub fn add(
        &mut self,
        path: &[YamlPathStep],
        key: Option<&str>,
        value: &ConfigValue,
    ) -> Result<(), EditError> {
        let slot = self.span(path)?;
        let entries = self.child_spans(&slot)?;
        let whole = || match key {
            Some(key) => ConfigValue::Table(vec![(key.to_owned(), value.clone())]),
            None => ConfigValue::List(vec![value.clone()]),
        };
        let Some(last) = entries.last() else { return self.replace(path, &whole()) };
        if last.in_flow {
            let text = match key {
                Some(key) => render::flow_member(key, value),
                None => render::flow(value, true),
            };
            return self.splice(last.end, last.end, &format!(", {text}"));
        }
        let lines = match key {
            Some(key) => render::member(key, value, self.indentation()),
            None => render::item(value, self.indentation()),
        };
        let (at, indent) = (self.line_end(last.end), self.column(last.start));
        let added = self.lines(&lines, indent);
        self.splice(at, at, &added)
    }

    /// Replaces a value.
    pub fn replace(&mut self, path: &[YamlPathStep], value: &ConfigValue) -> Result<(), EditError> {
        let slot = self.span(path)?;
        if slot.in_flow {
            let text = render::flow(value, true);
            return match slot.end > slot.head {
                true => self.splice(slot.body(), slot.end, &text),
                false => self.splice(slot.head, slot.head, &format!(" {text}")),
            };
        }
        if slot.marker == YamlValueMarker::Nothing {
            return self.replace_root(slot.node.map(|node| (node.start, node.end)), value);
        }
        let (tail, to) = self.trailing_comment(&slot);
        let habits = self.indentation();
        let column = self.column(slot.start);
        let text = match (render::is_block(value), slot.marker) {
            (false, _) => format!(" {}{tail}", render::flow(value, false)),
            (true, YamlValueMarker::Dash) if tail.is_empty() => {
                let lines = render::block(value, habits);
                let rest = self.lines(&lines[1..], column + 2);
                format!(" {}{rest}", lines[0])
            }
            (true, YamlValueMarker::Dash) => {
                format!("{tail}{}", self.lines(&render::block(value, habits), column + 2))
            }
            (true, _) => {
                let indent = column + habits.indent_for(value);
                format!("{tail}{}", self.lines(&render::block(value, habits), indent))
            }
        };
        self.splice(slot.head, to, &text)
    }

    fn replace_root(
        &mut self,
        old: Option<(usize, usize)>,
        value: &ConfigValue,
    ) -> Result<(), EditError> {
        let lines = render::block(value, self.indentation()).join(self.newline());
        match old.filter(|(start, end)| end > start) {
            Some((start, end)) => self.splice(start, end, &lines),
            None => {
                let ends = self.text.is_empty() || self.text.ends_with('\n');
                let newline = self.newline();
                let text = match ends {
                    true => format!("{lines}{newline}"),
                    false => format!("{newline}{lines}"),
                };
                self.splice(self.text.len(), self.text.len(), &text)
            }
        }
    }

    /// Removes a value, with its key or dash and the comments right above it.
    pub fn remove(&mut self, path: &[YamlPathStep]) -> Result<(), EditError> {
        let Some((_, above)) = path.split_last() else { return Err(unusual_layout()) };
        let (slot, parent) = (self.span(path)?, self.span(above)?);
        let entries = self.child_spans(&parent)?;
        let Some(index) = entries.iter().position(|entry| entry.start == slot.start) else {
            return Err(unusual_layout());
        };
        let next = entries.get(index + 1).map(|next| next.start);
        if slot.in_flow {
            let before = index.checked_sub(1).map(|before| entries[before].end);
            let (from, to) = match (next, before) {
                (Some(next), _) => (slot.start, next),
                (None, Some(before)) => (before, slot.end),
                (None, None) => (slot.start, slot.end),
            };
            return self.cut(from, to);
        }
        let shares_line = !self.text[self.line_start(slot.start)..slot.start].trim().is_empty();
        match (shares_line, next) {
            (true, Some(next)) => {
                let line_end = self.line_end(slot.end);
                match self.text[line_end..next].contains('#') {
                    // Comments on the next item stay above it, below the dash.
                    true => {
                        let before = self.text[..slot.start].trim_end_matches(' ').len();
                        self.splice(before, line_end, "")
                    }
                    false => self.splice(slot.start, next, ""),
                }
            }
            (true, None) if entries.len() == 1 => {
                let empty = match slot.marker {
                    YamlValueMarker::Dash => ConfigValue::List(Vec::new()),
                    _ => ConfigValue::Table(Vec::new()),
                };
                self.replace(above, &empty)
            }
            _ => {
                let emptied = (entries.len() == 1 && parent.marker != YamlValueMarker::Nothing)
                    .then(|| {
                        (
                            parent.head,
                            if slot.marker == YamlValueMarker::Dash { " []" } else { " {}" },
                        )
                    });
                let floor = index.checked_sub(1).map_or(parent.head, |before| entries[before].end);
                let from = self.comments_above_start(slot.start, floor);
                let removed = lines::lines_range(&self.text, from, self.line_end(slot.end));
                let mut text = self.text.clone();
                text.replace_range(removed, "");
                if let Some((head, empty)) = emptied {
                    text.insert_str(head, empty);
                }
                self.set_text(text)
            }
        }
    }

    /// Returns the comment after a replaced value, and the offset where the remaining text begins.
    fn trailing_comment(&self, slot: &YamlSpan<'_>) -> (String, usize) {
        let head_line = self.line_end(slot.head);
        let to = self.line_end(slot.end);
        let starts = slot.node.map_or(slot.head, |node| node.start);
        let candidate = match starts < head_line {
            true => &self.text[slot.end.min(to)..to],
            false => &self.text[slot.head..head_line],
        };
        let tail = candidate.trim_end();
        match tail.trim_start().starts_with('#') {
            true => (tail.to_owned(), to),
            false => (String::new(), to),
        }
    }

    /// Returns the start of the comments right above an offset with the same indentation, but not
    /// before `floor`.
    fn comments_above_start(&self, at: usize, floor: usize) -> usize {
        let column = self.column(at);
        let mut start = self.line_start(at);
        while let Some(above) = start.checked_sub(1).map(|end| self.line_start(end)) {
            let line = &self.text[above..start];
            let is_remark = line.trim_start_matches(' ').starts_with('#');
            let indent = line.len() - line.trim_start_matches(' ').len();
            if !is_remark || indent != column || above < floor {
                break;
            }
            start = above;
        }
        start
    }

    /// Cuts a range out of brackets, unless it contains a comment.
    fn cut(&mut self, from: usize, to: usize) -> Result<(), EditError> {
        if self.text[from..to].contains('#') {
            return Err(EditError::Unsupported("a comment would be lost".to_owned()));
        }
        self.splice(from, to, "")
    }

    fn line_start(&self, at: usize) -> usize {
        lines::line_start(&self.text, at)
    }

    /// Returns the end of the line at an offset, before its line ending.
    pub(super) fn line_end(&self, at: usize) -> usize {
        lines::line_end(&self.text, at)
    }

    pub(super) fn column(&self, at: usize) -> usize {
        at - self.line_start(at)
    }

    fn newline(&self) -> &'static str {
        lines::newline(&self.text)
    }

    /// Returns lines with this indentation, each after a line ending.
    fn lines(&self, lines: &[String], indent: usize) -> String {
        let (newline, indent) = (self.newline(), " ".repeat(indent));
        lines.iter().map(|line| format!("{newline}{indent}{line}")).collect()
    }

    fn splice(&mut self, from: usize, to: usize, put: &str) -> Result<(), EditError> {
        let mut text = self.text.clone();
        text.replace_range(from..to, put);
        self.set_text(text)
    }

    /// Replaces the text. If the new text cannot be parsed, the layout is not supported.
    fn set_text(&mut self, text: String) -> Result<(), EditError> {
        *self = Self::parse(text).map_err(|_| unusual_layout())?;
        Ok(())
    }
}

pub(super) fn unusual_layout() -> EditError {
    EditError::Unsupported("its layout is not supported; change it by hand".to_owned())
}
