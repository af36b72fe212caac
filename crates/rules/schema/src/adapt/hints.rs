//! Adds lost constraints to descriptions, where a model can still read them.

use serde_json::{Map, Value};

use super::constraints::{SchemaAnnotations, SchemaConstraints};
use crate::definition_error::truncate;

/// The maximum number of values in a description.
const VALUES: usize = 20;
/// The maximum size of one value, in bytes.
const LONGEST: usize = 60;

/// Returns the description of a schema, or of its only part, with the lost default, format and
/// enumeration values.
pub(super) fn words(
    notes: &SchemaAnnotations<'_>,
    parts: &[Map<String, Value>],
    alternatives: &[SchemaConstraints<'_>],
) -> Option<String> {
    let described = match parts {
        [only] => only.get("description").and_then(Value::as_str),
        _ => None,
    };
    let mut said = Vec::new();
    if let [only] = alternatives
        && let Some(values) = &only.values
        && !values.iter().all(|value| value.as_str().is_some_and(|text| !text.is_empty()))
        && values.len() <= VALUES
    {
        let values: Vec<String> = values.iter().map(|value| shown(value)).collect();
        said.push(format!("one of {}", values.join(", ")));
    }
    if let [only] = alternatives
        && let Some(Value::String(format)) = only.plain.get("format")
    {
        said.push(format!("format {}", truncate(format, LONGEST)));
    }
    if let Some(default) = notes.default.filter(|default| !default.is_null()) {
        said.push(format!("default {}", shown(default)));
    }
    match (notes.description.or(described), said.is_empty()) {
        (None, true) => None,
        (Some(description), true) => Some(description.to_owned()),
        (None, false) => Some(said.join("; ")),
        (Some(description), false) => Some(format!("{description} ({})", said.join("; "))),
    }
}

fn shown(value: &Value) -> String {
    truncate(&value.to_string(), LONGEST)
}

/// Returns true if a pattern needs neither look-around nor back-references.
pub(super) fn is_plain(pattern: &str) -> bool {
    let looks = ["(?=", "(?!", "(?<", "(?>", "\\k", "\\p", "\\P", "\\u", "\\c"];
    let refers =
        pattern.as_bytes().windows(2).any(|two| two[0] == b'\\' && two[1].is_ascii_digit());
    !refers && !looks.iter().any(|sign| pattern.contains(sign))
}
