//! What a schema cannot say any more, said in its description, where a model still reads it.

use serde_json::Value;

use super::facts::Facts;
use crate::unusable::cut;

/// Values that are named in a description.
const VALUES: usize = 20;
/// Bytes of one value.
const LONGEST: usize = 60;

/// A description with what was lost: the default, and values that no enumeration holds.
pub(super) fn words(
    description: Option<&str>,
    default: Option<&Value>,
    alternatives: &[Facts<'_>],
) -> Option<String> {
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
        said.push(format!("format {}", cut(format, LONGEST)));
    }
    if let Some(default) = default.filter(|default| !default.is_null()) {
        said.push(format!("default {}", shown(default)));
    }
    match (description, said.is_empty()) {
        (None, true) => None,
        (Some(description), true) => Some(description.to_owned()),
        (None, false) => Some(said.join("; ")),
        (Some(description), false) => Some(format!("{description} ({})", said.join("; "))),
    }
}

fn shown(value: &Value) -> String {
    cut(&value.to_string(), LONGEST)
}

/// Whether a pattern is one that engines without look-around and back-references know too.
pub(super) fn is_plain(pattern: &str) -> bool {
    let looks = ["(?=", "(?!", "(?<", "(?>", "\\k", "\\p", "\\P", "\\u", "\\c"];
    let refers =
        pattern.as_bytes().windows(2).any(|two| two[0] == b'\\' && two[1].is_ascii_digit());
    !refers && !looks.iter().any(|sign| pattern.contains(sign))
}
