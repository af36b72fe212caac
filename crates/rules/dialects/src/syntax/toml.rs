//! Parses TOML into the common tree.

use toml_edit::{Document, Item, TableLike, Value as TomlValue};

use crate::common::tree::{SyntaxError, TreeMember, TreeNode, TreeValue};

/// Parses a whole document.
pub(crate) fn parse(text: &str) -> Result<Vec<TreeMember>, SyntaxError> {
    parse_document(text).map(|document| table(text, document.as_table()))
}

/// Parses a document.
pub(crate) fn parse_document(text: &str) -> Result<Document<&str>, SyntaxError> {
    Document::parse(text).map_err(|error| SyntaxError {
        at: error.span().map_or(0, |span| span.start),
        message: error.message().lines().collect::<Vec<_>>().join("; "),
    })
}

fn table(text: &str, table: &dyn TableLike) -> Vec<TreeMember> {
    let place = |key| table.get_key_value(key)?.0.span();
    table
        .iter()
        .map(|(key, item)| {
            let at = place(key).map_or(0, |span| span.start);
            TreeMember { key: key.to_owned(), at, node: node(text, item, at) }
        })
        .collect()
}

/// Converts an item. `near` is the position for items without one (tables made by dotted keys).
fn node(text: &str, item: &Item, near: usize) -> TreeNode {
    let at = item.span().map_or(near, |span| span.start);
    let value = match item {
        Item::None => TreeValue::Null,
        Item::Value(value) => scalar(text, value, at),
        Item::Table(inner) => TreeValue::Table(table(text, inner)),
        Item::ArrayOfTables(tables) => TreeValue::List(
            tables
                .iter()
                .map(|inner| TreeNode { at, value: TreeValue::Table(table(text, inner)) })
                .collect(),
        ),
    };
    TreeNode { at, value }
}

fn scalar(text: &str, value: &TomlValue, near: usize) -> TreeValue {
    let spelled = || value.span().and_then(|span| text.get(span)).unwrap_or_default().to_owned();
    match value {
        TomlValue::String(it) => TreeValue::Text(it.value().clone()),
        TomlValue::Integer(number) => TreeValue::Integer(*number.value()),
        TomlValue::Boolean(flag) => TreeValue::Flag(*flag.value()),
        TomlValue::Float(_) => TreeValue::Fraction(spelled()),
        TomlValue::Datetime(time) => TreeValue::Other("a date or time", time.value().to_string()),
        TomlValue::InlineTable(inner) => TreeValue::Table(table(text, inner)),
        TomlValue::Array(items) => TreeValue::List(
            items
                .iter()
                .map(|item| {
                    let at = item.span().map_or(near, |span| span.start);
                    TreeNode { at, value: scalar(text, item, at) }
                })
                .collect(),
        ),
    }
}
