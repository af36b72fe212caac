//! Values as TOML text. Texts never hold a line end of their own: it is written as `\n`, so that the
//! line ends of the document are the only ones.

use toolgate_model::Data;

use crate::edit::EditError;
use crate::edit::merge::quoted;

/// What is up to this wide stays on one line.
pub(super) const WIDEST: usize = 80;
/// How far the items of a list stand in, where it needs several lines.
const UNIT: &str = "    ";

/// The value without what TOML has no words for: a field that is null is a field that is not there.
pub(super) fn sayable(value: &Data) -> Result<Data, EditError> {
    Ok(match value {
        Data::Null => {
            return Err(EditError::Unsupported("TOML has no word for null".to_owned()));
        }
        Data::List(items) => Data::List(items.iter().map(sayable).collect::<Result<_, _>>()?),
        Data::Table(fields) => {
            let fields = fields.iter().filter(|(_, value)| *value != Data::Null);
            let fields = fields.map(|(key, value)| Ok((key.clone(), sayable(value)?)));
            Data::Table(fields.collect::<Result<_, EditError>>()?)
        }
        plain => plain.clone(),
    })
}

pub(super) fn key(key: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match !key.is_empty() && key.chars().all(is_bare) {
        true => key.to_owned(),
        false => quoted(key),
    }
}

fn dotted(path: &[String]) -> String {
    path.iter().map(|part| key(part)).collect::<Vec<_>>().join(".")
}

/// A value on one line.
pub(super) fn inline(value: &Data) -> String {
    match value {
        // Kept out by `sayable`.
        Data::Null => "{}".to_owned(),
        Data::Flag(flag) => flag.to_string(),
        Data::Integer(number) => number.to_string(),
        Data::Fraction(spelled) => spelled.clone(),
        Data::Text(text) => quoted(text),
        Data::List(items) => {
            format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        Data::Table(fields) if fields.is_empty() => "{}".to_owned(),
        Data::Table(fields) => {
            let fields = fields.iter().map(|(name, it)| format!("{} = {}", key(name), inline(it)));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
    }
}

/// A value of which one line may take so much; a list that is longer has a line for each item.
pub(super) fn value(value: &Data, room: usize, indent: &str, newline: &str) -> String {
    let row = inline(value);
    match value {
        Data::List(items) if row.len() > room && !items.is_empty() => {
            let items = items.iter().map(|it| format!("{newline}{indent}{UNIT}{},", inline(it)));
            format!("[{}{newline}{indent}]", items.collect::<String>())
        }
        _ => row,
    }
}

/// A key and its value.
pub(super) fn line(path: &[String], it: &Data, indent: &str, newline: &str) -> String {
    let key = dotted(path);
    let room = WIDEST.saturating_sub(indent.len() + key.len() + 3);
    format!("{key} = {}", value(it, room, indent, newline))
}

/// A table with its header. Of the tables it ends in, those from the first on that is too long for a
/// line become tables below: so the order of fields stays.
pub(super) fn section(path: &[String], fields: &[(String, Data)], newline: &str) -> String {
    let is_long =
        |(name, value): &(String, Data)| key(name).len() + 3 + inline(value).len() > WIDEST;
    let is_table = |(_, value): &&(String, Data)| matches!(value, Data::Table(_));
    let tables = fields.iter().rev().take_while(is_table).count();
    let (_, ending) = fields.split_at(fields.len() - tables);
    let long = ending.iter().position(is_long).map_or(0, |first| ending.len() - first);
    let (short, long) = fields.split_at(fields.len() - long);
    let mut sections = Vec::new();
    if !short.is_empty() || long.is_empty() {
        let mut lines = vec![format!("[{}]", dotted(path))];
        let own = |(key, it): &(String, Data)| line(std::slice::from_ref(key), it, "", newline);
        lines.extend(short.iter().map(own));
        sections.push(lines.join(newline));
    }
    for (key, value) in long {
        if let Data::Table(fields) = value {
            sections.push(section(&[path, std::slice::from_ref(key)].concat(), fields, newline));
        }
    }
    sections.join(&format!("{newline}{newline}"))
}
