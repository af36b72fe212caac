//! Merges a value into a document of any syntax. Unchanged values are not touched; tables are
//! compared field by field, and lists item by item. Everything else is inserted,
//! replaced or removed by the functions of the syntax, one value at a time.

use toolgate_model::ConfigValue;

use super::bracketed_list::{BracketedList, EmptyListLayout};
use super::lines::splice;
use super::{EditError, PathStep};
use crate::Syntax;
use crate::common::tree::{SyntaxError, TreeNode, TreeValue};

/// The edit functions of a syntax. The caller checks that every path is reachable.
pub(super) struct SyntaxEditor {
    pub syntax: Syntax,
    /// Inserts a value where there is none.
    pub insert: fn(&str, &[PathStep], &ConfigValue) -> Result<String, EditError>,
    /// Replaces an existing value.
    pub replace: fn(&str, &[PathStep], &ConfigValue) -> Result<String, EditError>,
    /// Removes an existing value.
    pub remove: fn(&str, &[PathStep]) -> Result<String, EditError>,
    /// Returns the list at a path, if it is written in brackets.
    pub list: fn(&str, &[PathStep]) -> Option<BracketedList>,
    /// Renders a plain value as an item of a list.
    pub item: fn(&ConfigValue) -> String,
}

/// Returns the value at a path; `None` if there is none.
pub(crate) fn get(
    syntax: Syntax,
    text: &str,
    path: &[PathStep],
) -> Result<Option<ConfigValue>, EditError> {
    let root = parse(syntax, split_bom(text).1)?;
    Ok(find(&root, path)?.map(TreeNode::data))
}

/// Sets the value at a path.
pub(super) fn set(
    hands: &SyntaxEditor,
    text: &str,
    path: &[PathStep],
    value: &ConfigValue,
) -> Result<String, EditError> {
    let (mark, text) = split_bom(text);
    let changed = merge_value(hands, text.to_owned(), path, value)?;
    // For every layout, the result must contain exactly the requested value.
    match find(&parse(hands.syntax, &changed)?, path)? {
        Some(found) if is_same_value(&found.data(), value) => Ok(format!("{mark}{changed}")),
        _ => Err(unusual_layout(path)),
    }
}

/// Removes the value at a path.
pub(super) fn remove(
    hands: &SyntaxEditor,
    text: &str,
    path: &[PathStep],
) -> Result<Option<String>, EditError> {
    let (mark, text) = split_bom(text);
    if find(&parse(hands.syntax, text)?, path)?.is_none() {
        return Ok(None);
    }
    let changed = (hands.remove)(text, path)?;
    match find(&parse(hands.syntax, &changed)?, path)? {
        None => Ok(Some(format!("{mark}{changed}"))),
        Some(_) => Err(unusual_layout(path)),
    }
}

fn merge_value(
    hands: &SyntaxEditor,
    mut text: String,
    path: &[PathStep],
    value: &ConfigValue,
) -> Result<String, EditError> {
    let root = parse(hands.syntax, &text)?;
    match (find(&root, path)?, value) {
        (None, _) => (hands.insert)(&text, path, value),
        (Some(found), value) if is_same_value(&found.data(), value) => Ok(text),
        (Some(TreeNode { value: TreeValue::Table(fields), .. }), ConfigValue::Table(wanted)) => {
            let below = |key: &str| [path, &[PathStep::Key(key.to_owned())]].concat();
            // New fields are added first, so that the table always has a field that shows its
            // layout.
            for (key, wanted) in wanted {
                text = merge_value(hands, text, &below(key), wanted)?;
            }
            for field in fields.iter().filter(|field| value.get(&field.key).is_none()) {
                text = (hands.remove)(&text, &below(&field.key))?;
            }
            Ok(text)
        }
        (Some(found), value) => match merge_list(hands, &text, path, (&found.data(), value)) {
            Some(changed) => Ok(changed),
            None => (hands.replace)(&text, path, value),
        },
    }
}

/// Changes a list item by item, so that other items keep their lines and comments. Only plain
/// values can be added. Keeps the common prefix, and the common suffix if the list does not grow.
fn merge_list(
    hands: &SyntaxEditor,
    text: &str,
    path: &[PathStep],
    (old, new): (&ConfigValue, &ConfigValue),
) -> Option<String> {
    let (ConfigValue::List(old), ConfigValue::List(new)) = (old, new) else { return None };
    let is_plain = |it: &ConfigValue| !matches!(it, ConfigValue::List(_) | ConfigValue::Table(_));
    if old.is_empty() || new.is_empty() {
        return None;
    }
    let pairs = || old.iter().zip(new);
    let begin = pairs().take_while(|(old, new)| is_same_value(old, new)).count();
    let most = if new.len() > old.len() { 0 } else { new.len() - begin };
    let ends = old.iter().rev().zip(new.iter().rev()).take(most);
    let end = ends.take_while(|(old, new)| is_same_value(old, new)).count();
    if !new[begin..new.len() - end].iter().all(is_plain) {
        return None;
    }
    let mut text = text.to_owned();
    let list = |text: &str| (hands.list)(text, path).filter(|it| !it.items.is_empty());
    // From the end, so that the positions of earlier items stay valid.
    for index in (new.len() - end..old.len() - end).rev() {
        text = list(&text)?.remove(&text, index);
    }
    for index in (begin..old.len().min(new.len() - end)).rev() {
        let place = list(&text)?.items.get(index)?.clone();
        if !is_same_value(&old[index], &new[index]) {
            text = splice(&text, vec![(place, (hands.item)(&new[index]))]);
        }
    }
    for item in new.iter().skip(old.len()) {
        text = list(&text)?.add(&text, EmptyListLayout::Within(""), |_| (hands.item)(item));
    }
    Some(text)
}

/// Splits off the byte order mark at the start of a file.
pub(super) fn split_bom(text: &str) -> (&str, &str) {
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    text.split_at(mark)
}

fn parse(syntax: Syntax, text: &str) -> Result<TreeNode, EditError> {
    let members = syntax.parse(text).map_err(|error| syntax_error(text, error))?;
    Ok(TreeNode { at: 0, value: TreeValue::Table(members) })
}

/// Converts a parser error, and adds its line.
pub(super) fn syntax_error(text: &str, error: SyntaxError) -> EditError {
    let lines = text.bytes().take(error.at).filter(|byte| *byte == b'\n').count();
    let line = u32::try_from(lines + 1).unwrap_or(u32::MAX);
    EditError::Syntax { line, message: error.message }
}

/// Returns the value at a path. Null on the way counts as missing. Duplicates are rejected, because
/// changing one of two would leave the other.
fn find<'t>(root: &'t TreeNode, path: &[PathStep]) -> Result<Option<&'t TreeNode>, EditError> {
    let mut found = root;
    for (index, step) in path.iter().enumerate() {
        let mut fitting: Vec<_> = match (&found.value, step) {
            (TreeValue::Table(fields), PathStep::Key(key)) => {
                fields.iter().filter(|it| it.key == *key).map(|it| &it.node).collect()
            }
            (TreeValue::List(items), PathStep::NamedItem(name)) => {
                items.iter().filter(|item| item.is_named(name)).collect()
            }
            (TreeValue::Null, _) => return Ok(None),
            (other, _) => {
                let at = display_path(&path[..index]);
                return Err(EditError::WrongKind { at, found: other.kind() });
            }
        };
        if fitting.len() > 1 {
            let name = display_path(std::slice::from_ref(step));
            return Err(EditError::Unsupported(format!("`{name}` is there twice")));
        }
        let Some(next) = fitting.pop() else { return Ok(None) };
        found = next;
    }
    Ok(Some(found))
}

/// Returns true if two values are equal, regardless of the order of keys and the spelling of
/// numbers.
pub(crate) fn is_same_value(a: &ConfigValue, b: &ConfigValue) -> bool {
    match (a, b) {
        (ConfigValue::Table(a), ConfigValue::Table(b)) => {
            let has = |(key, value): &(String, ConfigValue)| {
                b.iter().any(|(other, it)| other == key && is_same_value(value, it))
            };
            a.len() == b.len() && a.iter().all(has)
        }
        (ConfigValue::List(a), ConfigValue::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same_value(a, b))
        }
        (ConfigValue::Decimal(a), ConfigValue::Decimal(b)) => {
            a == b || matches!((a.parse::<f64>(), b.parse::<f64>()), (Ok(a), Ok(b)) if a == b)
        }
        (a, b) => a == b,
    }
}

/// Returns the error for a layout in which the value cannot be changed.
pub(super) fn unusual_layout(path: &[PathStep]) -> EditError {
    EditError::Unsupported(format!("the layout of `{}` is not supported", display_path(path)))
}

/// Formats a path for messages.
pub(super) fn display_path(path: &[PathStep]) -> String {
    let names = path.iter().map(|step| match step {
        PathStep::Key(name) | PathStep::NamedItem(name) => name.as_str(),
    });
    names.collect::<Vec<_>>().join(".")
}

/// Wraps a value in tables and lists, so that it is at the end of a path.
pub(super) fn wrap_in_path(path: &[PathStep], value: &ConfigValue) -> ConfigValue {
    let Some((first, rest)) = path.split_first() else { return value.clone() };
    match (first, wrap_in_path(rest, value)) {
        (PathStep::Key(key), inner) => ConfigValue::Table(vec![(key.clone(), inner)]),
        (PathStep::NamedItem(name), inner) => ConfigValue::List(vec![with_name(name, inner)]),
    }
}

/// Returns a list item with its name first.
pub(super) fn with_name(name: &str, mut item: ConfigValue) -> ConfigValue {
    if let ConfigValue::Table(fields) = &mut item
        && fields.iter().all(|(key, _)| key != "name")
    {
        fields.insert(0, ("name".to_owned(), ConfigValue::text(name)));
    }
    item
}

/// Quotes a string so that JSON, TOML and YAML can read it. Control characters are escaped, and those
/// that are `special` too.
pub(crate) fn quote_text(text: &str, special: fn(char) -> bool) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() || special(c) => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
