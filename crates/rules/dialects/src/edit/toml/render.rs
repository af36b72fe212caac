//! Renders values as TOML. Strings contain line breaks only as `\n`, so the document keeps its line
//! endings.

use toolgate_model::ConfigValue;

use crate::edit::EditError;
use crate::edit::merge::quote_text;

/// Values up to this width stay on one line.
pub(super) const WIDEST: usize = 80;
/// The indentation of list items on separate lines.
const UNIT: &str = "    ";

/// Removes nulls, which TOML cannot express: a null field is left out.
pub(super) fn remove_nulls(value: &ConfigValue) -> Result<ConfigValue, EditError> {
    Ok(match value {
        ConfigValue::Null => {
            return Err(EditError::Unsupported("TOML has no null".to_owned()));
        }
        ConfigValue::List(items) => {
            ConfigValue::List(items.iter().map(remove_nulls).collect::<Result<_, _>>()?)
        }
        ConfigValue::Table(fields) => {
            let fields = fields.iter().filter(|(_, value)| *value != ConfigValue::Null);
            let fields = fields.map(|(key, value)| Ok((key.clone(), remove_nulls(value)?)));
            ConfigValue::Table(fields.collect::<Result<_, EditError>>()?)
        }
        plain => plain.clone(),
    })
}

pub(super) fn key(key: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match !key.is_empty() && key.chars().all(is_bare) {
        true => key.to_owned(),
        false => quote_text(key, |_| false),
    }
}

fn dotted(path: &[String]) -> String {
    path.iter().map(|part| key(part)).collect::<Vec<_>>().join(".")
}

/// Renders a value on one line.
pub(super) fn inline(value: &ConfigValue) -> String {
    match value {
        // `remove_nulls` has removed these.
        ConfigValue::Null => "{}".to_owned(),
        ConfigValue::Bool(flag) => flag.to_string(),
        ConfigValue::Integer(number) => number.to_string(),
        ConfigValue::Decimal(spelled) => spelled.clone(),
        ConfigValue::Text(text) => quote_text(text, |_| false),
        ConfigValue::List(items) => {
            format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        ConfigValue::Table(fields) if fields.is_empty() => "{}".to_owned(),
        ConfigValue::Table(fields) => {
            let fields = fields.iter().map(|(name, it)| format!("{} = {}", key(name), inline(it)));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Renders a value into at most `room` columns; a longer list has one line per item.
pub(super) fn value(value: &ConfigValue, room: usize, indent: &str, newline: &str) -> String {
    let row = inline(value);
    match value {
        ConfigValue::List(items) if row.len() > room && !items.is_empty() => {
            let items = items.iter().map(|it| format!("{newline}{indent}{UNIT}{},", inline(it)));
            format!("[{}{newline}{indent}]", items.collect::<String>())
        }
        _ => row,
    }
}

/// Renders a key with its value.
pub(super) fn line(path: &[String], it: &ConfigValue, indent: &str, newline: &str) -> String {
    let key = dotted(path);
    let room = WIDEST.saturating_sub(indent.len() + key.len() + 3);
    format!("{key} = {}", value(it, room, indent, newline))
}

/// Renders a table with its header. From the first trailing table that is too long for one line,
/// the trailing tables become tables with headers below, so the order of fields stays.
pub(super) fn section(path: &[String], fields: &[(String, ConfigValue)], newline: &str) -> String {
    let is_long =
        |(name, value): &(String, ConfigValue)| key(name).len() + 3 + inline(value).len() > WIDEST;
    let is_table = |(_, value): &&(String, ConfigValue)| matches!(value, ConfigValue::Table(_));
    let tables = fields.iter().rev().take_while(is_table).count();
    let (_, ending) = fields.split_at(fields.len() - tables);
    let long = ending.iter().position(is_long).map_or(0, |first| ending.len() - first);
    let (short, long) = fields.split_at(fields.len() - long);
    let mut sections = Vec::new();
    if !short.is_empty() || long.is_empty() {
        let mut lines = vec![format!("[{}]", dotted(path))];
        let own =
            |(key, it): &(String, ConfigValue)| line(std::slice::from_ref(key), it, "", newline);
        lines.extend(short.iter().map(own));
        sections.push(lines.join(newline));
    }
    for (key, value) in long {
        if let ConfigValue::Table(fields) = value {
            sections.push(section(&[path, std::slice::from_ref(key)].concat(), fields, newline));
        }
    }
    sections.join(&format!("{newline}{newline}"))
}
