//! A TOML text as the list of its statements (headers and fields), each with its full path and
//! position. The inside of a value is not listed.

use std::ops::Range;

use toml_edit::{Document, InlineTable, Item, Table, Value};

use super::HASH;
use crate::edit::EditError;
use crate::edit::lines::line_start;
use crate::edit::merge::syntax_error;
use crate::syntax::parse_toml;

/// A header, or a key with its value.
#[derive(Debug)]
pub(super) struct TomlStatement<'t> {
    /// All keys from the root; inside an inline table, from that table.
    pub path: Vec<String>,
    /// The start of the statement.
    pub at: usize,
    /// The end of the header or the value.
    pub end: usize,
    /// The value of a field; `None` for a header.
    pub value: Option<&'t Value>,
}

/// All statements of a text, in order.
pub(super) struct TomlStatements<'t> {
    pub all: Vec<TomlStatement<'t>>,
}

pub(super) fn parse(text: &str) -> Result<Document<&str>, EditError> {
    parse_toml(text).map_err(|error| syntax_error(text, error))
}

impl<'t> TomlStatements<'t> {
    pub fn of(text: &str, document: &'t Document<&str>) -> Self {
        let mut all = Vec::new();
        collect(text, document.as_table(), &[], &mut all);
        all.sort_by_key(|statement| statement.at);
        Self { all }
    }

    /// Returns the field that is, or contains, the value at a path.
    pub fn holder(&self, path: &[String]) -> Option<&TomlStatement<'t>> {
        self.all.iter().find(|it| it.value.is_some() && path.starts_with(&it.path))
    }

    /// Returns the header of a table.
    pub fn header(&self, path: &[String]) -> Option<usize> {
        self.all.iter().position(|it| it.value.is_none() && it.path == path)
    }

    /// Returns true if a table has fields, and not only nested tables.
    pub fn has_fields(&self, path: &[String]) -> bool {
        let is_field =
            |it: &TomlStatement<'_>| it.path.starts_with(path) && it.path.len() == path.len() + 1;
        let is_plain =
            |it: &TomlStatement<'_>| !matches!(it.value, None | Some(Value::InlineTable(_)));
        !path.is_empty() && self.all.iter().any(|it| is_field(it) && is_plain(it))
    }

    /// Returns the last field below a header, or the header if it has none.
    pub fn last_field(&self, header: usize) -> usize {
        header + self.all[header + 1..].iter().take_while(|it| it.value.is_some()).count()
    }

    /// Returns the last field above all headers.
    pub fn last_of_root(&self) -> Option<usize> {
        self.all.iter().take_while(|it| it.value.is_some()).count().checked_sub(1)
    }

    /// Returns the last field of a table made by dotted keys, and the length of its header's path.
    pub fn last_dotted_field(&self, path: &[String]) -> Option<(usize, usize)> {
        let is_field = |it: &TomlStatement<'_>| {
            it.value.is_some() && it.path.len() > path.len() && it.path.starts_with(path)
        };
        let last = self.all.iter().rposition(is_field)?;
        let header = self.header_of(last).map_or(0, |header| self.all[header].path.len());
        (!path.is_empty() && header < path.len()).then_some((last, header))
    }

    /// Returns the header that a statement belongs to, or is.
    fn header_of(&self, statement: usize) -> Option<usize> {
        self.all[..=statement].iter().rposition(|it| it.value.is_none())
    }

    /// Returns the end of the last table that contains a part of a path.
    pub fn last_of_kind(&self, path: &[String]) -> Option<usize> {
        if path.is_empty() {
            return None;
        }
        let last = self.last_under(path)?;
        match self.header_of(last) {
            Some(header) => Some(self.last_field(header)),
            None => self.last_of_root(),
        }
    }

    /// Returns the last statement at or below a path.
    pub fn last_under(&self, path: &[String]) -> Option<usize> {
        self.all.iter().rposition(|it| it.path.starts_with(path))
    }

    /// Returns the header that a statement belongs to, if the header is at or below the path as
    /// well.
    pub fn section(&self, statement: usize, path: &[String]) -> Option<usize> {
        self.header_of(statement).filter(|header| self.all[*header].path.starts_with(path))
    }

    /// Returns the end of the statement before an offset.
    pub fn end_before(&self, at: usize) -> usize {
        self.all.iter().take_while(|it| it.at < at).map(|it| it.end).max().unwrap_or(0)
    }
}

fn collect<'t>(text: &str, table: &'t Table, path: &[String], into: &mut Vec<TomlStatement<'t>>) {
    for (name, item) in table {
        let path = [path, &[name.to_owned()]].concat();
        match item {
            Item::None => {}
            Item::Value(value) => {
                let Some(key) = table.key(name).and_then(|key| key.span()) else { continue };
                let line = line_start(text, key.start);
                let at = text.len() - text[line..].trim_start_matches([' ', '\t']).len();
                let end = value.span().map_or(key.end, |span| span.end);
                into.push(TomlStatement { path, at, end, value: Some(value) });
            }
            Item::Table(inner) => {
                header(inner, &path, into);
                collect(text, inner, &path, into);
            }
            Item::ArrayOfTables(tables) => {
                for inner in tables {
                    header(inner, &path, into);
                    collect(text, inner, &path, into);
                }
            }
        }
    }
}

/// Adds the header of a table, unless a dotted key or the header of a nested table created it
/// implicitly.
fn header(table: &Table, path: &[String], into: &mut Vec<TomlStatement<'_>>) {
    let is_written = !table.is_implicit() && !table.is_dotted();
    if let Some(Range { start: at, end }) = table.span().filter(|_| is_written) {
        into.push(TomlStatement { path: path.to_vec(), at, end, value: None });
    }
}

/// Returns the fields of an inline table.
pub(super) fn fields<'t>(text: &str, table: &'t InlineTable) -> Vec<TomlStatement<'t>> {
    let mut fields = Vec::new();
    leaves(table, &[], &mut fields);
    fields.sort_by_key(|field| field.end);
    // A dotted key begins before its last part, right after the comma.
    let mut at = table.span().map_or(0, |span| span.start + 1);
    for field in &mut fields {
        field.at = HASH.skip_space_and_comments(text, at);
        let behind = HASH.skip_space_and_comments(text, field.end);
        at = behind + usize::from(text[behind..].starts_with(','));
    }
    fields
}

fn leaves<'t>(table: &'t InlineTable, path: &[String], into: &mut Vec<TomlStatement<'t>>) {
    for (name, value) in table {
        let path = [path, &[name.to_owned()]].concat();
        match value {
            Value::InlineTable(inner) if inner.is_dotted() => leaves(inner, &path, into),
            value => {
                let Range { start: at, end } = value.span().unwrap_or_default();
                into.push(TomlStatement { path, at, end, value: Some(value) });
            }
        }
    }
}
