//! TOML text to the common tree.

use toml_edit::{Document, Item, TableLike, Value as TomlValue};

use crate::frame::tree::{Member, Node, SyntaxError, Value};

/// Parses a whole document.
pub(crate) fn parse(text: &str) -> Result<Vec<Member>, SyntaxError> {
    match Document::parse(text) {
        Ok(document) => Ok(table(text, document.as_table())),
        Err(error) => Err(SyntaxError {
            at: error.span().map_or(0, |span| span.start),
            message: error.message().lines().collect::<Vec<_>>().join("; "),
        }),
    }
}

fn table(text: &str, table: &dyn TableLike) -> Vec<Member> {
    let place = |key| table.get_key_value(key)?.0.span();
    table
        .iter()
        .map(|(key, item)| {
            let at = place(key).map_or(0, |span| span.start);
            Member { key: key.to_owned(), at, node: node(text, item, at) }
        })
        .collect()
}

/// `near` stands in for a place the parser does not give (tables made by dotted keys).
fn node(text: &str, item: &Item, near: usize) -> Node {
    let at = item.span().map_or(near, |span| span.start);
    let value = match item {
        Item::None => Value::Null,
        Item::Value(value) => scalar(text, value, at),
        Item::Table(inner) => Value::Table(table(text, inner)),
        Item::ArrayOfTables(tables) => Value::List(
            tables
                .iter()
                .map(|inner| Node { at, value: Value::Table(table(text, inner)) })
                .collect(),
        ),
    };
    Node { at, value }
}

fn scalar(text: &str, value: &TomlValue, near: usize) -> Value {
    let spelled = || value.span().and_then(|span| text.get(span)).unwrap_or_default().to_owned();
    match value {
        TomlValue::String(it) => Value::Text(it.value().clone()),
        TomlValue::Integer(number) => Value::Integer(*number.value()),
        TomlValue::Boolean(flag) => Value::Flag(*flag.value()),
        TomlValue::Float(_) => Value::Fraction(spelled()),
        TomlValue::Datetime(time) => Value::Other("a date or time", time.value().to_string()),
        TomlValue::InlineTable(inner) => Value::Table(table(text, inner)),
        TomlValue::Array(items) => Value::List(
            items
                .iter()
                .map(|item| {
                    let at = item.span().map_or(near, |span| span.start);
                    Node { at, value: scalar(text, item, at) }
                })
                .collect(),
        ),
    }
}
