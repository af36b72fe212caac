//! Changes in a JSON document, with or without comments: the text is cut and joined where the parser
//! says things stand, so nothing else of it changes.
//!
//! A server takes the comments with it that stand right above it, line by line; a blank line parts
//! them. A new one goes right below the last, before comments that follow that one.

use std::ops::Range;

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, parse_to_ast};
use toolgate_model::Data;

use super::delimited::{Delimited, First};
use super::lines::{Comments, indent, newline, splice};
use super::merge::{self, Hands, quoted, shown, wrapped};
use super::{EditError, Step};
use crate::Syntax;

/// The indentation of a document that has none.
const USUAL: &str = "  ";
/// Lists of plain values up to this wide stay on one line.
const WIDEST: usize = 80;

const HANDS: Hands = Hands {
    syntax: Syntax::Json,
    insert,
    replace,
    remove: take,
    list,
    item: |value| rendered(value, None),
};

pub(super) fn set(text: &str, path: &[Step], value: &Data) -> Result<String, EditError> {
    // A file of comments, or of nothing, is an object that was not begun yet.
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
    merge::set(&HANDS, &begun, path, value)
}

pub(super) fn remove(text: &str, path: &[Step]) -> Result<Option<String>, EditError> {
    merge::remove(&HANDS, text, path)
}

/// A whole document.
pub(crate) fn document(value: &Data) -> String {
    let layout = Layout { newline: "\n", indent: "", unit: USUAL };
    rendered(value, Some(layout)) + "\n"
}

fn is_empty(text: &str) -> bool {
    let rest = text.trim_start_matches('\u{feff}');
    rest[Comments::Slashes.skip(rest, 0)..].is_empty()
}

fn insert(text: &str, path: &[Step], value: &Data) -> Result<String, EditError> {
    let root = parse(text)?;
    let (mut at, mut depth) = (&root, 0);
    while let Some(next) = path.get(depth).and_then(|step| child(at, step)) {
        at = next;
        depth += 1;
    }
    let unit = unit(text, &root).unwrap_or(USUAL);
    let Some((step, rest)) = path[depth..].split_first() else {
        return replace(text, path, value);
    };
    let first = First::Below(unit);
    let list = match (at, step) {
        (Value::Object(_), Step::Key(_)) | (Value::Array(_), Step::Named(_)) => delimited(at),
        (Value::NullKeyword(null), _) => {
            let value = wrapped(&path[depth..], value);
            let put = rendered(&value, Some(Layout::of(text, null.range.start, unit)));
            return Ok(splice(text, vec![(range(at), put)]));
        }
        _ => return Err(unreachable_place(path)),
    };
    // The list is there already: what is added is one item of it.
    let value = match (step, wrapped(&path[depth..], value)) {
        (Step::Named(_), Data::List(mut items)) => items.pop().unwrap_or(Data::Null),
        _ => wrapped(rest, value),
    };
    Ok(list.add(text, first, |indent| {
        let layout = indent.map(|indent| Layout { newline: newline(text), indent, unit });
        let value = rendered(&value, layout);
        match step {
            Step::Key(key) => format!("{}: {value}", quoted(key)),
            Step::Named(_) => value,
        }
    }))
}

fn replace(text: &str, path: &[Step], value: &Data) -> Result<String, EditError> {
    let root = parse(text)?;
    let found = locate(&root, path)?;
    let layout = Layout::of(text, found.start(), unit(text, &root).unwrap_or(USUAL));
    Ok(splice(text, vec![(range(found), rendered(value, Some(layout)))]))
}

/// The list at a path, if it is one.
fn list(text: &str, path: &[Step]) -> Option<Delimited> {
    let root = parse(text).ok()?;
    let found = locate(&root, path).ok()?;
    matches!(found, Value::Array(_)).then(|| delimited(found))
}

fn take(text: &str, path: &[Step]) -> Result<String, EditError> {
    let Some((last, way)) = path.split_last() else { return Err(unreachable_place(path)) };
    let root = parse(text)?;
    let parent = locate(&root, way)?;
    let item = match (parent, last) {
        (Value::Object(object), Step::Key(key)) => {
            object.properties.iter().position(|property| property.name.as_str() == key)
        }
        (Value::Array(array), Step::Named(name)) => {
            array.elements.iter().position(|item| is_named(item, name))
        }
        _ => None,
    };
    let item = item.ok_or_else(|| unreachable_place(path))?;
    Ok(delimited(parent).remove(text, item))
}

fn parse(text: &str) -> Result<Value<'_>, EditError> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &crate::syntax::json_options());
    let problem = |message: String| EditError::Syntax { line: 1, message };
    let root = parsed.map_err(|error| problem(error.kind().to_string().to_lowercase()))?;
    root.value.ok_or_else(|| problem("it is empty".to_owned()))
}

/// The caller has made sure that the place is there; this is for a document that fools us both.
fn unreachable_place(path: &[Step]) -> EditError {
    EditError::Unsupported(format!("`{}` cannot be reached", shown(path)))
}

fn child<'t, 'a>(value: &'t Value<'a>, step: &Step) -> Option<&'t Value<'a>> {
    match (value, step) {
        (Value::Object(object), Step::Key(key)) => object
            .properties
            .iter()
            .find(|property| property.name.as_str() == key)
            .map(|property| &property.value),
        (Value::Array(array), Step::Named(name)) => {
            array.elements.iter().find(|item| is_named(item, name))
        }
        _ => None,
    }
}

fn is_named(item: &Value<'_>, name: &str) -> bool {
    let found = child(item, &Step::Key("name".to_owned()));
    matches!(found, Some(Value::StringLit(text)) if text.value == name)
}

fn locate<'t, 'a>(root: &'t Value<'a>, path: &[Step]) -> Result<&'t Value<'a>, EditError> {
    let mut at = root;
    for step in path {
        at = child(at, step).ok_or_else(|| unreachable_place(path))?;
    }
    Ok(at)
}

fn range(value: &Value<'_>) -> Range<usize> {
    value.start()..value.end()
}

fn delimited(value: &Value<'_>) -> Delimited {
    let items = match value {
        Value::Object(object) => {
            object.properties.iter().map(|it| it.range.start..it.range.end).collect()
        }
        Value::Array(array) => array.elements.iter().map(range).collect(),
        _ => Vec::new(),
    };
    Delimited { range: range(value), items, comments: Comments::Slashes }
}

/// By what the document indents what is inside something: by the first thing that is further in
/// than what holds it.
fn unit<'t>(text: &'t str, value: &Value<'_>) -> Option<&'t str> {
    let outer = indent(text, value.start());
    let own = delimited(value).items.into_iter().find_map(|item| {
        let inner =
            Comments::Slashes.is_first(text, item.start).then(|| indent(text, item.start))?;
        inner.strip_prefix(outer).filter(|unit| !unit.is_empty())
    });
    own.or_else(|| match value {
        Value::Object(object) => object.properties.iter().find_map(|it| unit(text, &it.value)),
        Value::Array(array) => array.elements.iter().find_map(|item| unit(text, item)),
        _ => None,
    })
}

/// How something that may need several lines is laid out.
#[derive(Clone, Copy)]
struct Layout<'a> {
    newline: &'a str,
    /// The indentation of the line it begins on.
    indent: &'a str,
    unit: &'a str,
}

impl<'a> Layout<'a> {
    fn of(text: &'a str, at: usize, unit: &'a str) -> Self {
        Self { newline: newline(text), indent: indent(text, at), unit }
    }
}

fn rendered(value: &Data, layout: Option<Layout<'_>>) -> String {
    match value {
        Data::Null => "null".to_owned(),
        Data::Flag(flag) => flag.to_string(),
        Data::Integer(number) => number.to_string(),
        Data::Fraction(spelled) => spelled.clone(),
        Data::Text(text) => quoted(text),
        Data::List(items) => {
            let row = format!("[{}]", rows(items.iter().map(|it| rendered(it, None))));
            let plain = items.iter().all(|it| !matches!(it, Data::List(_) | Data::Table(_)));
            match layout {
                Some(layout) if !(plain && layout.indent.len() + row.len() <= WIDEST) => {
                    block("[", "]", layout, items.iter().map(|it| (String::new(), it)))
                }
                _ => row,
            }
        }
        Data::Table(fields) => {
            let key = |key: &str| format!("{}: ", quoted(key));
            match layout {
                Some(layout) => {
                    block("{", "}", layout, fields.iter().map(|(name, it)| (key(name), it)))
                }
                None => {
                    let row = fields.iter().map(|(name, it)| key(name) + &rendered(it, None));
                    format!("{{{}}}", rows(row))
                }
            }
        }
    }
}

fn rows(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

/// Each item on lines of its own.
fn block<'d>(
    open: &str,
    close: &str,
    layout: Layout<'_>,
    items: impl Iterator<Item = (String, &'d Data)>,
) -> String {
    let Layout { newline, indent, unit } = layout;
    let inner = format!("{indent}{unit}");
    let below = Layout { indent: &inner, ..layout };
    let lines: Vec<_> = items
        .map(|(key, value)| format!("{newline}{inner}{key}{}", rendered(value, Some(below))))
        .collect();
    match lines.is_empty() {
        true => format!("{open}{close}"),
        false => format!("{open}{}{newline}{indent}{close}", lines.join(",")),
    }
}
