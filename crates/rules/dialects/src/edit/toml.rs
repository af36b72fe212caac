//! Edits TOML documents by splicing the text at the positions that the parser reports, so nothing
//! else changes.
//!
//! A new server is a table with its own header, below the last server or at the end of the file. A
//! server written as an inline table or with dotted keys keeps its form. A removed server takes the
//! comments right above it with it, and those right below if a blank line follows, and one blank
//! line above. Comments at the end of the file stay.

mod render;
mod statements;

use toml_edit::Value;
use toolgate_model::ConfigValue;

use self::statements::{TomlStatement, TomlStatements};
use super::bracketed_list::{BracketedList, EmptyListLayout};
use super::lines::{
    CommentStyle, indent, line_end, line_start, lines_range, lines_range_with_blank, newline,
    splice,
};
use super::merge::{self, SyntaxEditor};
use super::{EditError, PathStep};
use crate::Syntax;

const HASH: CommentStyle = CommentStyle::Hash;
const EDITOR: SyntaxEditor = SyntaxEditor {
    syntax: Syntax::Toml,
    insert,
    replace,
    remove: remove_value,
    list,
    item: render::inline,
};

pub(super) fn set(text: &str, path: &[PathStep], value: &ConfigValue) -> Result<String, EditError> {
    keys(path)?;
    merge::set(&EDITOR, text, path, &render::remove_nulls(value)?)
}

pub(super) fn remove(text: &str, path: &[PathStep]) -> Result<Option<String>, EditError> {
    keys(path)?;
    merge::remove(&EDITOR, text, path)
}

/// Returns the keys of a path. No TOML dialect keeps its servers in a list.
fn keys(path: &[PathStep]) -> Result<Vec<String>, EditError> {
    let key = |step: &PathStep| match step {
        PathStep::Key(key) => Ok(key.clone()),
        PathStep::NamedItem(name) => {
            Err(EditError::Unsupported(format!("{name:?} would be in a list of tables")))
        }
    };
    path.iter().map(key).collect()
}

fn insert(text: &str, path: &[PathStep], value: &ConfigValue) -> Result<String, EditError> {
    let path = keys(path)?;
    let document = statements::parse(text)?;
    let statements = TomlStatements::of(text, &document);
    if let Some(holder) = statements.holder(&path) {
        return insert_inline(text, holder, &path, value);
    }
    let (parent, key) = path.split_at(path.len().saturating_sub(1));
    let is_server = matches!(value, ConfigValue::Table(_)) && !statements.has_fields(parent);
    let line = format!("{} = ", render::key(&key[0])).len();
    match value {
        ConfigValue::Table(fields)
            if is_server
                || (line + render::inline(value).len() > render::WIDEST
                    && statements.header(parent).is_some()) =>
        {
            Ok(insert_section(text, &statements, &path, fields))
        }
        _ => Ok(insert_line(text, &statements, &path, value)),
    }
}

/// Inserts a field into an inline table, at any depth.
fn insert_inline(
    text: &str,
    holder: &TomlStatement<'_>,
    path: &[String],
    value: &ConfigValue,
) -> Result<String, EditError> {
    let (table, depth) = innermost_table(holder, path).ok_or_else(|| unusual_layout(path))?;
    let list = statements::fields(text, table);
    let first = EmptyListLayout::Within(" ");
    let key: Vec<_> = path[depth..].iter().map(|key| render::key(key)).collect();
    let item = format!("{} = {}", key.join("."), render::inline(value));
    Ok(bracketed_list(&list, table).add(text, first, |_| item.clone()))
}

/// Inserts a field on a separate line, next to the other fields of its table.
fn insert_line(
    text: &str,
    statements: &TomlStatements<'_>,
    path: &[String],
    value: &ConfigValue,
) -> String {
    let newline = newline(text);
    let (parent, key) = path.split_at(path.len() - 1);
    let line = |key: &[String], indent: &str| render::line(key, value, indent, newline);
    // Below the last field of its table or the header, else next to fields with dotted keys.
    let of_header = statements.header(parent).map(|header| (statements.last_field(header), key));
    let dotted = || statements.last_dotted_field(parent).map(|(last, at)| (last, &path[at..]));
    if let Some((last, key)) = of_header.or_else(dotted) {
        let TomlStatement { at, end, .. } = &statements.all[last];
        let indent = indent(text, *at);
        return insert_below(text, *end, &format!("{indent}{}", line(key, indent)));
    }
    if !parent.is_empty() {
        return insert_section(text, statements, parent, &[(key[0].clone(), value.clone())]);
    }
    match (statements.last_of_root(), statements.all.first()) {
        (Some(last), _) => insert_below(text, statements.all[last].end, &line(key, "")),
        (None, Some(first)) => {
            let at = HASH.attached_comments_start(text, line_start(text, first.at), 0);
            splice(text, vec![(at..at, format!("{}{newline}{newline}", line(key, "")))])
        }
        (None, None) => at_end(text, &line(key, "")),
    }
}

/// Inserts a table with a header, below the last sibling.
fn insert_section(
    text: &str,
    statements: &TomlStatements<'_>,
    path: &[String],
    fields: &[(String, ConfigValue)],
) -> String {
    let newline = newline(text);
    let section = render::section(path, fields, newline);
    match statements.last_of_kind(&path[..path.len() - 1]) {
        Some(last) => {
            let end = HASH.trailing_comments_end(text, line_end(text, statements.all[last].end));
            splice(text, vec![(end..end, format!("{newline}{newline}{section}"))])
        }
        None => at_end(text, &section),
    }
}

/// Inserts a line below the line that contains `end`.
fn insert_below(text: &str, end: usize, line: &str) -> String {
    let end = line_end(text, end);
    splice(text, vec![(end..end, format!("{}{line}", newline(text)))])
}

/// Appends to the text, after a blank line.
fn at_end(text: &str, put: &str) -> String {
    let end = text.trim_end().len();
    let newline = newline(text);
    match end {
        0 => format!("{put}{}", if text.is_empty() { newline } else { text }),
        _ => splice(text, vec![(end..end, format!("{newline}{newline}{put}"))]),
    }
}

fn replace(text: &str, path: &[PathStep], value: &ConfigValue) -> Result<String, EditError> {
    let names = keys(path)?;
    let document = statements::parse(text)?;
    let statements = TomlStatements::of(text, &document);
    let Some(holder) = statements.holder(&names) else {
        // Tables with headers are replaced by a value without a header.
        return insert(&remove_value(text, path)?, path, value);
    };
    let found = value_inside(holder, &names)
        .and_then(|value| value.span())
        .ok_or_else(|| unusual_layout(&names))?;
    let is_row = !text[found.clone()].contains('\n');
    let put = match is_row {
        true => render::inline(value),
        false => render::value(value, render::WIDEST, indent(text, found.start), newline(text)),
    };
    Ok(splice(text, vec![(found, put)]))
}

/// Returns the list at a path, if it is written in brackets.
fn list(text: &str, path: &[PathStep]) -> Option<BracketedList> {
    let names = keys(path).ok()?;
    let document = statements::parse(text).ok()?;
    let statements = TomlStatements::of(text, &document);
    let array = value_inside(statements.holder(&names)?, &names)?.as_array()?;
    let items: Option<_> = array.iter().map(Value::span).collect();
    Some(BracketedList { range: array.span()?, items: items?, comments: HASH })
}

/// Removes statements one by one, the last first, until nothing at the path is left.
fn remove_value(text: &str, path: &[PathStep]) -> Result<String, EditError> {
    let path = keys(path)?;
    let mut text = text.to_owned();
    loop {
        let document = statements::parse(&text)?;
        let statements = TomlStatements::of(&text, &document);
        let changed = match (statements.holder(&path), statements.last_under(&path)) {
            (Some(holder), _) if holder.path.len() == path.len() => {
                cut_line(&text, &statements, holder)
            }
            (Some(holder), _) => match remove_inline(&text, holder, &path) {
                Some(changed) => changed,
                None => return Ok(text),
            },
            (None, Some(last)) => match statements.section(last, &path) {
                Some(header) => cut_section(&text, &statements, header),
                None => cut_line(&text, &statements, &statements.all[last]),
            },
            (None, None) => return Ok(text),
        };
        // Every round removes something, so the loop ends.
        text = changed;
    }
}

fn remove_inline(text: &str, holder: &TomlStatement<'_>, path: &[String]) -> Option<String> {
    let (table, depth) = innermost_table(holder, path)?;
    let list = statements::fields(text, table);
    let item = list.iter().rposition(|field| field.path.starts_with(&path[depth..]))?;
    Some(bracketed_list(&list, table).remove(text, item))
}

fn cut_line(text: &str, statements: &TomlStatements<'_>, statement: &TomlStatement<'_>) -> String {
    let floor = statements.end_before(statement.at);
    let start = HASH.attached_comments_start(text, line_start(text, statement.at), floor);
    let range = lines_range(text, start, line_end(text, statement.end));
    splice(text, vec![(range, String::new())])
}

fn cut_section(text: &str, statements: &TomlStatements<'_>, header: usize) -> String {
    let at = statements.all[header].at;
    let floor = statements.end_before(at);
    let start = HASH.attached_comments_start(text, line_start(text, at), floor);
    let last = statements.last_field(header);
    let own_end = line_end(text, statements.all[last].end);
    let end = HASH.trailing_comments_end(text, own_end);
    let range = match end > own_end && text[end..].trim().is_empty() {
        // The comments at the end of the file keep their distance to the text above.
        true => lines_range(text, start, own_end),
        false => lines_range_with_blank(text, start, end),
    };
    splice(text, vec![(range, String::new())])
}

/// Returns the innermost inline table on a path, and the length of the path to it.
fn innermost_table<'t>(
    holder: &TomlStatement<'t>,
    path: &[String],
) -> Option<(&'t toml_edit::InlineTable, usize)> {
    let mut table = holder.value?.as_inline_table()?;
    let mut depth = holder.path.len();
    let mut here = depth;
    let mut at = table;
    // A table made by dotted keys has no brackets.
    while let Some(Value::InlineTable(next)) = path.get(here).and_then(|key| at.get(key)) {
        here += 1;
        at = next;
        if !next.is_dotted() && here < path.len() {
            (table, depth) = (next, here);
        }
    }
    Some((table, depth))
}

/// Returns the value at a path that begins in a statement.
fn value_inside<'t>(holder: &TomlStatement<'t>, path: &[String]) -> Option<&'t Value> {
    let mut value = holder.value?;
    for key in &path[holder.path.len()..] {
        value = value.as_inline_table()?.get(key)?;
    }
    Some(value)
}

fn bracketed_list(fields: &[TomlStatement<'_>], table: &toml_edit::InlineTable) -> BracketedList {
    BracketedList {
        range: table.span().unwrap_or_default(),
        items: fields.iter().map(|field| field.at..field.end).collect(),
        comments: HASH,
    }
}

fn unusual_layout(path: &[String]) -> EditError {
    let path: Vec<_> = path.iter().cloned().map(PathStep::Key).collect();
    merge::unusual_layout(&path)
}
