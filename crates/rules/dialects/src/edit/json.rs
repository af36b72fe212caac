//! Edits JSON documents, with or without comments, by splicing the text at the positions that the
//! parser reports, so nothing else changes.
//!
//! A removed server takes the comment lines right above it with it, up to a blank line. A new
//! server goes right below the last one, before any comments that follow.

use std::ops::Range;

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use toolgate_model::ConfigValue;

use super::bracketed_list::{BracketedList, EmptyListLayout};
use super::lines::{CommentStyle, indent, newline, splice};
use super::merge::{
    self, SyntaxEditor, display_path, quote_text, syntax_error, with_name, wrap_in_path,
};
use super::{EditError, PathStep};
use crate::Syntax;
use crate::syntax::parse_json;

/// The indentation for documents that have none.
const USUAL: &str = "  ";
/// Lists of plain values up to this width stay on one line.
const WIDEST: usize = 80;

const EDITOR: SyntaxEditor = SyntaxEditor {
    syntax: Syntax::Json,
    insert,
    replace,
    remove: remove_value,
    list,
    item: |value| render_value(value, None),
};

pub(super) fn set(text: &str, path: &[PathStep], value: &ConfigValue) -> Result<String, EditError> {
    // A file that is empty or has only comments becomes an object.
    let begun = match is_empty(text) {
        true if text.trim_matches(['\u{feff}', ' ', '\t', '\r', '\n']).is_empty() => {
            format!("{}{{}}\n", text.trim_end())
        }
        true => {
            let content = text.trim_end();
            format!("{content}{}{{}}{}", newline(text), &text[content.len()..])
        }
        false => text.to_owned(),
    };
    merge::set(&EDITOR, &begun, path, value)
}

pub(super) fn remove(text: &str, path: &[PathStep]) -> Result<Option<String>, EditError> {
    merge::remove(&EDITOR, text, path)
}

fn is_empty(text: &str) -> bool {
    let rest = text.trim_start_matches('\u{feff}');
    rest[CommentStyle::Slashes.skip_space_and_comments(rest, 0)..].is_empty()
}

fn insert(text: &str, path: &[PathStep], value: &ConfigValue) -> Result<String, EditError> {
    let root = parse(text)?;
    let (mut at, mut depth) = (&root, 0);
    while let Some(next) = path.get(depth).and_then(|step| child(at, step)) {
        at = next;
        depth += 1;
    }
    let unit = indent_unit(text, &root).unwrap_or(USUAL);
    let Some((step, rest)) = path[depth..].split_first() else {
        return replace(text, path, value);
    };
    let first = EmptyListLayout::Below(unit);
    let list = match (at, step) {
        (Value::Object(_), PathStep::Key(_)) | (Value::Array(_), PathStep::NamedItem(_)) => {
            bracketed_list(at)
        }
        (Value::NullKeyword(null), _) => {
            let value = wrap_in_path(&path[depth..], value);
            let put =
                render_value(&value, Some(MultilineJsonLayout::of(text, null.range.start, unit)));
            return Ok(splice(text, vec![(range(at), put)]));
        }
        _ => return Err(unreachable_place(path)),
    };
    // The list exists, so one item is added to it.
    let value = match step {
        PathStep::NamedItem(name) => with_name(name, wrap_in_path(rest, value)),
        PathStep::Key(_) => wrap_in_path(rest, value),
    };
    Ok(list.add(text, first, |indent| {
        let layout =
            indent.map(|indent| MultilineJsonLayout { newline: newline(text), indent, unit });
        let value = render_value(&value, layout);
        match step {
            PathStep::Key(key) => format!("{}: {value}", quote_text(key, |_| false)),
            PathStep::NamedItem(_) => value,
        }
    }))
}

fn replace(text: &str, path: &[PathStep], value: &ConfigValue) -> Result<String, EditError> {
    let root = parse(text)?;
    let found = locate(&root, path)?;
    let layout =
        MultilineJsonLayout::of(text, found.start(), indent_unit(text, &root).unwrap_or(USUAL));
    Ok(splice(text, vec![(range(found), render_value(value, Some(layout)))]))
}

/// Returns the list at a path, if the value is a list.
fn list(text: &str, path: &[PathStep]) -> Option<BracketedList> {
    let root = parse(text).ok()?;
    let found = locate(&root, path).ok()?;
    matches!(found, Value::Array(_)).then(|| bracketed_list(found))
}

fn remove_value(text: &str, path: &[PathStep]) -> Result<String, EditError> {
    let Some((last, way)) = path.split_last() else { return Err(unreachable_place(path)) };
    let root = parse(text)?;
    let parent = locate(&root, way)?;
    let item = position(parent, last).ok_or_else(|| unreachable_place(path))?;
    Ok(bracketed_list(parent).remove(text, item))
}

fn parse(text: &str) -> Result<Value<'_>, EditError> {
    let empty = || EditError::Syntax { line: 1, message: "the document is empty".to_owned() };
    parse_json(text).map_err(|error| syntax_error(text, error))?.ok_or_else(empty)
}

/// Returns the error for a path that unexpectedly does not exist; callers have checked it.
fn unreachable_place(path: &[PathStep]) -> EditError {
    EditError::Unsupported(format!("`{}` cannot be reached", display_path(path)))
}

/// Returns the index of the member or item to which a step leads.
fn position(value: &Value<'_>, step: &PathStep) -> Option<usize> {
    match (value, step) {
        (Value::Object(object), PathStep::Key(key)) => {
            object.properties.iter().position(|property| property.name.as_str() == key)
        }
        (Value::Array(array), PathStep::NamedItem(name)) => {
            array.elements.iter().position(|item| is_named(item, name))
        }
        _ => None,
    }
}

fn child<'t, 'a>(value: &'t Value<'a>, step: &PathStep) -> Option<&'t Value<'a>> {
    let index = position(value, step)?;
    match value {
        Value::Object(object) => Some(&object.properties[index].value),
        Value::Array(array) => array.elements.get(index),
        _ => None,
    }
}

fn is_named(item: &Value<'_>, name: &str) -> bool {
    let found = child(item, &PathStep::Key("name".to_owned()));
    matches!(found, Some(Value::StringLit(text)) if text.value == name)
}

fn locate<'t, 'a>(root: &'t Value<'a>, path: &[PathStep]) -> Result<&'t Value<'a>, EditError> {
    let mut at = root;
    for step in path {
        at = child(at, step).ok_or_else(|| unreachable_place(path))?;
    }
    Ok(at)
}

fn range(value: &Value<'_>) -> Range<usize> {
    value.start()..value.end()
}

fn bracketed_list(value: &Value<'_>) -> BracketedList {
    let items = match value {
        Value::Object(object) => {
            object.properties.iter().map(|it| it.range.start..it.range.end).collect()
        }
        Value::Array(array) => array.elements.iter().map(range).collect(),
        _ => Vec::new(),
    };
    BracketedList { range: range(value), items, comments: CommentStyle::Slashes }
}

/// Returns the indentation unit of the document: that of the first nested value on a separate line.
fn indent_unit<'t>(text: &'t str, value: &Value<'_>) -> Option<&'t str> {
    let outer = indent(text, value.start());
    let own = bracketed_list(value).items.into_iter().find_map(|item| {
        let inner = CommentStyle::Slashes
            .is_first_on_line(text, item.start)
            .then(|| indent(text, item.start))?;
        inner.strip_prefix(outer).filter(|unit| !unit.is_empty())
    });
    own.or_else(|| match value {
        Value::Object(object) => {
            object.properties.iter().find_map(|it| indent_unit(text, &it.value))
        }
        Value::Array(array) => array.elements.iter().find_map(|item| indent_unit(text, item)),
        _ => None,
    })
}

/// The layout of a value that may need several lines.
#[derive(Clone, Copy)]
struct MultilineJsonLayout<'a> {
    newline: &'a str,
    /// The indentation of the line on which it begins.
    indent: &'a str,
    unit: &'a str,
}

impl<'a> MultilineJsonLayout<'a> {
    fn of(text: &'a str, at: usize, unit: &'a str) -> Self {
        Self { newline: newline(text), indent: indent(text, at), unit }
    }
}

fn render_value(value: &ConfigValue, layout: Option<MultilineJsonLayout<'_>>) -> String {
    match value {
        ConfigValue::Null => "null".to_owned(),
        ConfigValue::Bool(flag) => flag.to_string(),
        ConfigValue::Integer(number) => number.to_string(),
        ConfigValue::Decimal(spelled) => spelled.clone(),
        ConfigValue::Text(text) => quote_text(text, |_| false),
        ConfigValue::List(items) => {
            let row = format!("[{}]", join_items(items.iter().map(|it| render_value(it, None))));
            let plain =
                items.iter().all(|it| !matches!(it, ConfigValue::List(_) | ConfigValue::Table(_)));
            match layout {
                Some(layout) if !(plain && layout.indent.len() + row.len() <= WIDEST) => {
                    block("[", "]", layout, items.iter().map(|it| (String::new(), it)))
                }
                _ => row,
            }
        }
        ConfigValue::Table(fields) => {
            let key = |key: &str| format!("{}: ", quote_text(key, |_| false));
            match layout {
                Some(layout) => {
                    block("{", "}", layout, fields.iter().map(|(name, it)| (key(name), it)))
                }
                None => {
                    let row = fields.iter().map(|(name, it)| key(name) + &render_value(it, None));
                    format!("{{{}}}", join_items(row))
                }
            }
        }
    }
}

fn join_items(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

/// Renders each item on separate lines.
fn block<'d>(
    open: &str,
    close: &str,
    layout: MultilineJsonLayout<'_>,
    items: impl Iterator<Item = (String, &'d ConfigValue)>,
) -> String {
    let MultilineJsonLayout { newline, indent, unit } = layout;
    let inner = format!("{indent}{unit}");
    let below = MultilineJsonLayout { indent: &inner, ..layout };
    let lines: Vec<_> = items
        .map(|(key, value)| format!("{newline}{inner}{key}{}", render_value(value, Some(below))))
        .collect();
    match lines.is_empty() {
        true => format!("{open}{close}"),
        false => format!("{open}{}{newline}{indent}{close}", lines.join(",")),
    }
}
