//! The three things that are done to a YAML document: something is added, replaced or taken away,
//! and all other text stays. Where its parts stand is found in `slots`.

use toolgate_model::Data;

use super::slots::{By, Slot};
use super::{render, unreadable};
use crate::EditError;
use crate::frame::tree::{Node, Value};
use crate::syntax::yaml;
use crate::syntax::yaml::raw::{self, Raw};

/// One step to a value that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum At {
    Key(String),
    Item(usize),
}

/// A text, and what it says.
pub(super) struct Document {
    pub(super) text: String,
    pub(super) root: Option<Raw>,
    data: Data,
}

impl Document {
    pub fn parse(text: String) -> Result<Self, EditError> {
        let read = raw::parse(&text).and_then(|root| {
            let members = root.as_ref().map(yaml::members).transpose()?;
            Ok((root, members.unwrap_or_default()))
        });
        let (root, members) = read.map_err(|error| unreadable(&text, error))?;
        let data = Node { at: 0, value: Value::Table(members) }.data();
        Ok(Self { text, root, data })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// What the whole of it says.
    pub fn data(&self) -> &Data {
        &self.data
    }

    pub fn data_at(&self, path: &[At]) -> Option<&Data> {
        path.iter().try_fold(&self.data, |data, at| match (data, at) {
            (data, At::Key(key)) => data.get(key),
            (Data::List(items), At::Item(index)) => items.get(*index),
            _ => None,
        })
    }

    /// Whether a value stands there itself, and is not only taken over from elsewhere.
    pub fn has(&self, path: &[At]) -> Result<bool, EditError> {
        self.slot(path).map(|slot| slot.is_some())
    }

    /// Adds a value at the end of a table or a list.
    pub fn add(&mut self, path: &[At], key: Option<&str>, value: &Data) -> Result<(), EditError> {
        let Some(slot) = self.slot(path)? else { return Err(odd()) };
        let entries = self.entries(&slot)?;
        let whole = || match key {
            Some(key) => Data::Table(vec![(key.to_owned(), value.clone())]),
            None => Data::List(vec![value.clone()]),
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
            Some(key) => render::member(key, value, self.habits()),
            None => render::item(value, self.habits()),
        };
        let (at, indent) = (self.line_end(last.end), self.column(last.start));
        let added = self.lines(&lines, indent);
        self.splice(at, at, &added)
    }

    /// Puts another value in the place of one.
    pub fn replace(&mut self, path: &[At], value: &Data) -> Result<(), EditError> {
        let Some(slot) = self.slot(path)? else { return Err(odd()) };
        if slot.in_flow {
            let text = render::flow(value, true);
            return match slot.end > slot.head {
                true => self.splice(slot.body(), slot.end, &text),
                false => self.splice(slot.head, slot.head, &format!(" {text}")),
            };
        }
        if slot.by == By::Nothing {
            return self.replace_root(slot.node.map(|node| (node.start, node.end)), value);
        }
        let (tail, to) = self.remark(&slot);
        let habits = self.habits();
        let column = self.column(slot.start);
        let text = match (render::is_block(value), slot.by) {
            (false, _) => format!(" {}{tail}", render::flow(value, false)),
            (true, By::Dash) if tail.is_empty() => {
                let lines = render::block(value, habits);
                let rest = self.lines(&lines[1..], column + 2);
                format!(" {}{rest}", lines[0])
            }
            (true, By::Dash) => {
                format!("{tail}{}", self.lines(&render::block(value, habits), column + 2))
            }
            (true, _) => {
                let indent = column + habits.below(value);
                format!("{tail}{}", self.lines(&render::block(value, habits), indent))
            }
        };
        self.splice(slot.head, to, &text)
    }

    fn replace_root(&mut self, old: Option<(usize, usize)>, value: &Data) -> Result<(), EditError> {
        let lines = render::block(value, self.habits()).join(self.newline());
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

    /// Takes a value away, with its key or dash and the remarks right above it.
    pub fn remove(&mut self, path: &[At]) -> Result<(), EditError> {
        let Some((_, above)) = path.split_last() else { return Err(odd()) };
        let (Some(slot), Some(parent)) = (self.slot(path)?, self.slot(above)?) else {
            return Err(odd());
        };
        let entries = self.entries(&parent)?;
        let Some(index) = entries.iter().position(|entry| entry.start == slot.start) else {
            return Err(odd());
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
                    // Remarks on the next one stay above it, below the dash.
                    true => {
                        let before = self.text[..slot.start].trim_end_matches(' ').len();
                        self.splice(before, line_end, "")
                    }
                    false => self.splice(slot.start, next, ""),
                }
            }
            (true, None) if entries.len() == 1 => {
                let empty = match slot.by {
                    By::Dash => Data::List(Vec::new()),
                    _ => Data::Table(Vec::new()),
                };
                self.replace(above, &empty)
            }
            _ => {
                let emptied = (entries.len() == 1 && parent.by != By::Nothing)
                    .then(|| (parent.head, if slot.by == By::Dash { " []" } else { " {}" }));
                let floor = index.checked_sub(1).map_or(parent.head, |before| entries[before].end);
                let (from, to) = self.whole_lines(self.remarks_above(slot.start, floor), slot.end);
                let mut text = self.text.clone();
                text.replace_range(from..to, "");
                if let Some((head, empty)) = emptied {
                    text.insert_str(head, empty);
                }
                self.take_over(text)
            }
        }
    }

    /// The remark that stays behind a value that is replaced, and where the rest goes on.
    fn remark(&self, slot: &Slot<'_>) -> (String, usize) {
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

    /// Where the remarks begin that stand right above a place and as far in, none before `floor`.
    fn remarks_above(&self, at: usize, floor: usize) -> usize {
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

    /// Cuts a piece out of brackets, unless a remark would go with it.
    fn cut(&mut self, from: usize, to: usize) -> Result<(), EditError> {
        self.no_remark(from, to)?;
        self.splice(from, to, "")
    }

    fn no_remark(&self, from: usize, to: usize) -> Result<(), EditError> {
        match self.text[from..to].contains('#') {
            true => Err(EditError::Unsupported("a remark would be lost with it".to_owned())),
            false => Ok(()),
        }
    }

    /// The lines that hold a piece of text, with one line end.
    fn whole_lines(&self, from: usize, to: usize) -> (usize, usize) {
        let (from, to) = (self.line_start(from), self.line_end(to));
        let newline = match &self.text[to..] {
            rest if rest.starts_with("\r\n") => 2,
            rest => usize::from(rest.starts_with('\n')),
        };
        match newline {
            // The last line has no end: it takes that of the line before.
            0 if from > 0 => {
                let before = &self.text[..from - 1];
                (before.strip_suffix('\r').unwrap_or(before).len(), to)
            }
            newline => (from, to + newline),
        }
    }

    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |newline| newline + 1)
    }

    /// Where the line of a place ends, before its line end.
    pub(super) fn line_end(&self, at: usize) -> usize {
        let rest = &self.text[at..];
        let line = rest.split('\n').next().unwrap_or_default();
        let is_last = line.len() == rest.len();
        at + if is_last { line.len() } else { line.strip_suffix('\r').unwrap_or(line).len() }
    }

    pub(super) fn column(&self, at: usize) -> usize {
        at - self.line_start(at)
    }

    fn newline(&self) -> &'static str {
        match self.text.find('\n') {
            Some(at) if self.text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        }
    }

    /// Lines with this indentation, each after a line end.
    fn lines(&self, lines: &[String], indent: usize) -> String {
        let (newline, indent) = (self.newline(), " ".repeat(indent));
        lines.iter().map(|line| format!("{newline}{indent}{line}")).collect()
    }

    fn splice(&mut self, from: usize, to: usize, put: &str) -> Result<(), EditError> {
        let mut text = self.text.clone();
        text.replace_range(from..to, put);
        self.take_over(text)
    }

    /// Takes a changed text over; one that is none any more is not the fault of whoever wrote it.
    fn take_over(&mut self, text: String) -> Result<(), EditError> {
        *self = Self::parse(text).map_err(|_| odd())?;
        Ok(())
    }
}

pub(super) fn odd() -> EditError {
    EditError::Unsupported("its layout is too unusual; change it by hand".to_owned())
}
