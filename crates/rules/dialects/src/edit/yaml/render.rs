//! Values as YAML text: in lines, each value in its own place, or on one line in brackets.

use toolgate_model::Data;

use crate::syntax::yaml::scalar;

/// How deep a document indents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Habits {
    /// A table below a key.
    pub table: usize,
    /// The dashes of a list below a key.
    pub list: usize,
}

/// The lines of a value, without the indentation of the place they go to.
pub(super) fn block(value: &Data, habits: Habits) -> Vec<String> {
    match value {
        Data::Table(members) if !members.is_empty() => {
            members.iter().flat_map(|(key, value)| member(key, value, habits)).collect()
        }
        Data::List(items) if !items.is_empty() => {
            items.iter().flat_map(|value| item(value, habits)).collect()
        }
        other => vec![flow(other, false)],
    }
}

/// The lines of a key and its value.
pub(super) fn member(key: &str, value: &Data, habits: Habits) -> Vec<String> {
    let key = scalar::written(key, false);
    match is_block(value) {
        false => vec![format!("{key}: {}", flow(value, false))],
        true => {
            let mut lines = vec![format!("{key}:")];
            let indent = " ".repeat(habits.below(value));
            lines.extend(block(value, habits).iter().map(|line| format!("{indent}{line}")));
            lines
        }
    }
}

/// The lines of an item of a list.
pub(super) fn item(value: &Data, habits: Habits) -> Vec<String> {
    let lines = block(value, habits);
    let dashed = lines.iter().enumerate().map(|(index, line)| match index {
        0 => format!("- {line}"),
        _ => format!("  {line}"),
    });
    dashed.collect()
}

/// Whether a value takes lines of its own.
pub(super) fn is_block(value: &Data) -> bool {
    match value {
        Data::Table(members) => !members.is_empty(),
        Data::List(items) => !items.is_empty(),
        _ => false,
    }
}

/// A value on one line; `inside` of brackets more texts need quotes.
pub(super) fn flow(value: &Data, inside: bool) -> String {
    match value {
        Data::Null => "null".to_owned(),
        Data::Flag(flag) => flag.to_string(),
        Data::Integer(number) => number.to_string(),
        Data::Fraction(spelled) => spelled.clone(),
        Data::Text(text) => scalar::written(text, inside),
        Data::List(items) => {
            let items: Vec<_> = items.iter().map(|item| flow(item, true)).collect();
            format!("[{}]", items.join(", "))
        }
        Data::Table(members) => {
            let members: Vec<_> =
                members.iter().map(|(key, value)| flow_member(key, value)).collect();
            format!("{{{}}}", members.join(", "))
        }
    }
}

/// A key and its value inside of braces.
pub(super) fn flow_member(key: &str, value: &Data) -> String {
    format!("{}: {}", scalar::written(key, true), flow(value, true))
}

impl Habits {
    /// How much deeper than its key a value stands.
    pub fn below(self, value: &Data) -> usize {
        if matches!(value, Data::List(_)) { self.list } else { self.table }
    }
}
