//! Renders values as YAML: in block style on several lines, or in flow style on one line.

use toolgate_model::ConfigValue;

use crate::syntax::yaml::scalar;

/// The indentation widths of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct YamlIndentation {
    /// Of a table below a key.
    pub table: usize,
    /// Of the dashes of a list below a key.
    pub list: usize,
}

/// Returns the lines of a value, without the indentation of their context.
pub(super) fn block(value: &ConfigValue, habits: YamlIndentation) -> Vec<String> {
    match value {
        ConfigValue::Table(members) if !members.is_empty() => {
            members.iter().flat_map(|(key, value)| member(key, value, habits)).collect()
        }
        ConfigValue::List(items) if !items.is_empty() => {
            items.iter().flat_map(|value| item(value, habits)).collect()
        }
        other => vec![flow(other, false)],
    }
}

/// Returns the lines of a key with its value.
pub(super) fn member(key: &str, value: &ConfigValue, habits: YamlIndentation) -> Vec<String> {
    let key = scalar::render_text(key, false);
    match is_block(value) {
        false => vec![format!("{key}: {}", flow(value, false))],
        true => {
            let mut lines = vec![format!("{key}:")];
            let indent = " ".repeat(habits.indent_for(value));
            lines.extend(block(value, habits).iter().map(|line| format!("{indent}{line}")));
            lines
        }
    }
}

/// Returns the lines of a list item.
pub(super) fn item(value: &ConfigValue, habits: YamlIndentation) -> Vec<String> {
    let lines = block(value, habits);
    let dashed = lines.iter().enumerate().map(|(index, line)| match index {
        0 => format!("- {line}"),
        _ => format!("  {line}"),
    });
    dashed.collect()
}

/// Returns true if a value needs separate lines.
pub(super) fn is_block(value: &ConfigValue) -> bool {
    match value {
        ConfigValue::Table(members) => !members.is_empty(),
        ConfigValue::List(items) => !items.is_empty(),
        _ => false,
    }
}

/// Renders a value on one line; `inside` brackets, more strings need quotes.
pub(super) fn flow(value: &ConfigValue, inside: bool) -> String {
    match value {
        ConfigValue::Null => "null".to_owned(),
        ConfigValue::Bool(flag) => flag.to_string(),
        ConfigValue::Integer(number) => number.to_string(),
        ConfigValue::Decimal(spelled) => spelled.clone(),
        ConfigValue::Text(text) => scalar::render_text(text, inside),
        ConfigValue::List(items) => {
            let items: Vec<_> = items.iter().map(|item| flow(item, true)).collect();
            format!("[{}]", items.join(", "))
        }
        ConfigValue::Table(members) => {
            let members: Vec<_> =
                members.iter().map(|(key, value)| flow_member(key, value)).collect();
            format!("{{{}}}", members.join(", "))
        }
    }
}

/// Renders a key with its value for use in braces.
pub(super) fn flow_member(key: &str, value: &ConfigValue) -> String {
    format!("{}: {}", scalar::render_text(key, true), flow(value, true))
}

impl YamlIndentation {
    /// Returns the additional indentation of a value below its key.
    pub fn indent_for(self, value: &ConfigValue) -> usize {
        if matches!(value, ConfigValue::List(_)) { self.list } else { self.table }
    }
}
