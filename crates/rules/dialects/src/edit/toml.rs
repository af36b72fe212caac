//! Changes in a TOML document: the text is cut and joined where the parser says things stand, so
//! nothing else of it changes.
//!
//! A new server is a table with a header of its own, below the last of its kind or at the end of the
//! file. One that is written as an inline table or with dotted keys stays as it is written. What is
//! taken out goes with the comments right above it, and those right below if a blank line follows
//! them; one blank line above goes too. Comments the file ends in are the file's own and stay.

mod statements;
mod written;

use toml_edit::Value;
use toolgate_model::Data;

use self::statements::{Statement, Statements};
use super::delimited::{Delimited, First};
use super::lines::{Comments, cut, cut_apart, indent, line_end, line_start, newline, splice};
use super::merge::{self, Hands, shown};
use super::{EditError, Step};
use crate::Syntax;

const HASH: Comments = Comments::Hash;
const HANDS: Hands =
    Hands { syntax: Syntax::Toml, insert, replace, remove: take, list, item: written::inline };

pub(super) fn set(text: &str, path: &[Step], value: &Data) -> Result<String, EditError> {
    keys(path)?;
    merge::set(&HANDS, text, path, &written::sayable(value)?)
}

pub(super) fn remove(text: &str, path: &[Step]) -> Result<Option<String>, EditError> {
    keys(path)?;
    merge::remove(&HANDS, text, path)
}

/// No TOML dialect keeps its servers in a list.
fn keys(path: &[Step]) -> Result<Vec<String>, EditError> {
    let key = |step: &Step| match step {
        Step::Key(key) => Ok(key.clone()),
        Step::Named(name) => {
            Err(EditError::Unsupported(format!("{name:?} would stand in a list of tables")))
        }
    };
    path.iter().map(key).collect()
}

fn insert(text: &str, path: &[Step], value: &Data) -> Result<String, EditError> {
    let path = keys(path)?;
    let document = statements::parse(text)?;
    let statements = Statements::of(text, &document);
    if let Some(holder) = statements.holder(&path) {
        return insert_inline(text, holder, &path, value);
    }
    let (parent, key) = path.split_at(path.len().saturating_sub(1));
    let is_server = matches!(value, Data::Table(_)) && !statements.has_fields(parent);
    let line = format!("{} = ", written::key(&key[0])).len();
    match value {
        Data::Table(fields)
            if is_server
                || (line + written::inline(value).len() > written::WIDEST
                    && statements.header(parent).is_some()) =>
        {
            Ok(insert_section(text, &statements, &path, fields))
        }
        _ => Ok(insert_line(text, &statements, &path, value)),
    }
}

/// A field of an inline table, at whatever depth inside it.
fn insert_inline(
    text: &str,
    holder: &Statement<'_>,
    path: &[String],
    value: &Data,
) -> Result<String, EditError> {
    let (table, depth) = deepest(holder, path).ok_or_else(|| odd(path))?;
    let list = statements::fields(text, table);
    let first = First::Within(" ");
    let key: Vec<_> = path[depth..].iter().map(|key| written::key(key)).collect();
    let item = format!("{} = {}", key.join("."), written::inline(value));
    Ok(delimited(&list, table).add(text, first, |_| item.clone()))
}

/// A line of its own, where the others of its table are.
fn insert_line(text: &str, statements: &Statements<'_>, path: &[String], value: &Data) -> String {
    let newline = newline(text);
    let (parent, key) = path.split_at(path.len() - 1);
    let line = |key: &[String], indent: &str| written::line(key, value, indent, newline);
    // Below the last field of its table, or else below the header.
    if let Some(header) = statements.header(parent) {
        let last = statements.last_field(header).unwrap_or(header);
        let indent = indent(text, statements.all[last].at);
        return below(text, statements.all[last].end, &format!("{indent}{}", line(key, indent)));
    }
    // Beside others whose keys have dots.
    if let Some((last, header)) = statements.dotted(parent) {
        let indent = indent(text, statements.all[last].at);
        let key = &path[header..];
        return below(text, statements.all[last].end, &format!("{indent}{}", line(key, indent)));
    }
    if !parent.is_empty() {
        return insert_section(text, statements, parent, &[(key[0].clone(), value.clone())]);
    }
    match (statements.last_of_root(), statements.all.first()) {
        (Some(last), _) => below(text, statements.all[last].end, &line(key, "")),
        (None, Some(first)) => {
            let at = HASH.attached(text, line_start(text, first.at), 0);
            splice(text, vec![(at..at, format!("{}{newline}{newline}", line(key, "")))])
        }
        (None, None) => at_end(text, &line(key, "")),
    }
}

/// A table with a header, below the last of its kind.
fn insert_section(
    text: &str,
    statements: &Statements<'_>,
    path: &[String],
    fields: &[(String, Data)],
) -> String {
    let newline = newline(text);
    let section = written::section(path, fields, newline);
    match statements.last_of_kind(&path[..path.len() - 1]) {
        Some(last) => {
            let end = HASH.below(text, line_end(text, statements.all[last].end));
            splice(text, vec![(end..end, format!("{newline}{newline}{section}"))])
        }
        None => at_end(text, &section),
    }
}

/// Puts a line below the one that something ends on.
fn below(text: &str, end: usize, line: &str) -> String {
    let end = line_end(text, end);
    splice(text, vec![(end..end, format!("{}{line}", newline(text)))])
}

/// Puts something at the end of the text, a blank line apart.
fn at_end(text: &str, put: &str) -> String {
    let end = text.trim_end().len();
    let newline = newline(text);
    match end {
        0 => format!("{put}{}", if text.is_empty() { newline } else { text }),
        _ => splice(text, vec![(end..end, format!("{newline}{newline}{put}"))]),
    }
}

fn replace(text: &str, path: &[Step], value: &Data) -> Result<String, EditError> {
    let names = keys(path)?;
    let document = statements::parse(text)?;
    let statements = Statements::of(text, &document);
    let Some(holder) = statements.holder(&names) else {
        // Tables with headers give way to something that is none.
        return insert(&take(text, path)?, path, value);
    };
    let found = inside(holder, &names).and_then(|value| value.span()).ok_or_else(|| odd(&names))?;
    let is_row = !text[found.clone()].contains('\n');
    let put = match is_row {
        true => written::inline(value),
        false => written::value(value, written::WIDEST, indent(text, found.start), newline(text)),
    };
    Ok(splice(text, vec![(found, put)]))
}

/// The list at a path, if it is one between brackets.
fn list(text: &str, path: &[Step]) -> Option<Delimited> {
    let names = keys(path).ok()?;
    let document = statements::parse(text).ok()?;
    let statements = Statements::of(text, &document);
    let array = inside(statements.holder(&names)?, &names)?.as_array()?;
    let items: Option<_> = array.iter().map(Value::span).collect();
    Some(Delimited { range: array.span()?, items: items?, comments: HASH })
}

/// Takes things out one by one, the last first, until nothing is left of the path.
fn take(text: &str, path: &[Step]) -> Result<String, EditError> {
    let path = keys(path)?;
    let mut text = text.to_owned();
    loop {
        let document = statements::parse(&text)?;
        let statements = Statements::of(&text, &document);
        let changed = match (statements.holder(&path), statements.last_under(&path)) {
            (Some(holder), _) if holder.path.len() == path.len() => {
                cut_line(&text, &statements, holder)
            }
            (Some(holder), _) => match take_inline(&text, holder, &path) {
                Some(changed) => changed,
                None => return Ok(text),
            },
            (None, Some(last)) => match statements.section(last, &path) {
                Some(header) => cut_section(&text, &statements, header),
                None => cut_line(&text, &statements, &statements.all[last]),
            },
            (None, None) => return Ok(text),
        };
        // Fewer things each time: the loop ends.
        text = changed;
    }
}

fn take_inline(text: &str, holder: &Statement<'_>, path: &[String]) -> Option<String> {
    let (table, depth) = deepest(holder, path)?;
    let list = statements::fields(text, table);
    let item = list.iter().rposition(|field| field.path.starts_with(&path[depth..]))?;
    Some(delimited(&list, table).remove(text, item))
}

fn cut_line(text: &str, statements: &Statements<'_>, statement: &Statement<'_>) -> String {
    let floor = statements.end_before(statement.at);
    let start = HASH.attached(text, line_start(text, statement.at), floor);
    let range = cut(text, start, line_end(text, statement.end));
    splice(text, vec![(range, String::new())])
}

fn cut_section(text: &str, statements: &Statements<'_>, header: usize) -> String {
    let at = statements.all[header].at;
    let floor = statements.end_before(at);
    let start = HASH.attached(text, line_start(text, at), floor);
    let last = statements.last_field(header).unwrap_or(header);
    let own_end = line_end(text, statements.all[last].end);
    let end = HASH.below(text, own_end);
    let range = match end > own_end && text[end..].trim().is_empty() {
        // What the file ends in is parted from what stands above as it was.
        true => cut(text, start, own_end),
        false => cut_apart(text, start, end),
    };
    splice(text, vec![(range, String::new())])
}

/// The innermost inline table on the way to a path, and how much of the path leads to it.
fn deepest<'t>(
    holder: &Statement<'t>,
    path: &[String],
) -> Option<(&'t toml_edit::InlineTable, usize)> {
    let mut table = holder.value?.as_inline_table()?;
    let mut depth = holder.path.len();
    let mut here = depth;
    let mut at = table;
    // A table that dotted keys made has no brackets of its own.
    while let Some(Value::InlineTable(next)) = path.get(here).and_then(|key| at.get(key)) {
        here += 1;
        at = next;
        if !next.is_dotted() && here < path.len() {
            (table, depth) = (next, here);
        }
    }
    Some((table, depth))
}

/// The value at a path that begins in a statement.
fn inside<'t>(holder: &Statement<'t>, path: &[String]) -> Option<&'t Value> {
    let mut value = holder.value?;
    for key in &path[holder.path.len()..] {
        value = value.as_inline_table()?.get(key)?;
    }
    Some(value)
}

fn delimited(fields: &[Statement<'_>], table: &toml_edit::InlineTable) -> Delimited {
    Delimited {
        range: table.span().unwrap_or_default(),
        items: fields.iter().map(|field| field.at..field.end).collect(),
        comments: HASH,
    }
}

fn odd(path: &[String]) -> EditError {
    let path: Vec<_> = path.iter().cloned().map(Step::Key).collect();
    EditError::Unsupported(format!("`{}` is written in an odd way", shown(&path)))
}
