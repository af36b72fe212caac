//! Converts validator errors into faults that a model can understand: the location, the expected
//! value and the actual value.
//!
//! If all alternatives of a schema fail, the faults of the most likely intended one are reported.

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;

use crate::ArgumentFault;
use crate::definition_error::truncate;
use crate::subschemas::escaped;

/// The number of bytes of a value in a message.
const VALUE: usize = 60;
/// The number of enumeration values in a message.
const OPTIONS: usize = 12;
/// The maximum number of reported unexpected members.
const MEMBERS: usize = 5;

/// Converts an error of this schema.
pub(crate) fn from_error(error: &ValidationError<'_>, schema: &Value) -> Vec<ArgumentFault> {
    let path = error.instance_path().as_str();
    let got = shown(error.instance());
    match error.kind() {
        Kind::Required { property } => vec![missing(path, property, error, schema)],
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            unknown(unexpected, error, schema)
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            alternatives(error, context, schema)
        }
        Kind::PropertyNames { error: inner } => {
            let expected = from_error(inner, schema).into_iter().next().map(|fault| fault.expected);
            let expected = format!("member names that are {}", expected.unwrap_or_default());
            vec![ArgumentFault { path: path.to_owned(), expected, got: shown(inner.instance()) }]
        }
        kind => vec![ArgumentFault { path: path.to_owned(), expected: expectation(kind), got }],
    }
}

/// Formats a value for a message.
pub(crate) fn shown(value: &Value) -> String {
    truncate(&value.to_string(), VALUE)
}

fn expectation(kind: &Kind) -> String {
    match kind {
        Kind::Type { kind: TypeKind::Single(one) } => type_name(*one).to_owned(),
        Kind::Type { kind: TypeKind::Multiple(several) } => {
            either(several.iter().map(|one| type_name(one).to_owned()).collect())
        }
        Kind::Enum { options } => options_of(options),
        Kind::Constant { expected_value } => shown(expected_value),
        Kind::Pattern { pattern } => format!("a string that matches {}", truncate(pattern, VALUE)),
        Kind::Format { format } => format!("a string of format {format}"),
        Kind::Minimum { limit } => format!("a number of at least {limit}"),
        Kind::Maximum { limit } => format!("a number of at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("a number above {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("a number below {limit}"),
        Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("a string of at least {}", some(*limit, "character")),
        Kind::MaxLength { limit } => format!("a string of at most {}", some(*limit, "character")),
        Kind::MinItems { limit } => format!("at least {}", some(*limit, "item")),
        Kind::MaxItems { limit } => format!("at most {}", some(*limit, "item")),
        Kind::MinProperties { limit } => format!("at least {}", some(*limit, "member")),
        Kind::MaxProperties { limit } => format!("at most {}", some(*limit, "member")),
        Kind::AdditionalItems { limit } => {
            format!("at most {}", some(u64::try_from(*limit).unwrap_or(u64::MAX), "item"))
        }
        Kind::UnevaluatedItems { .. } => "no further items".to_owned(),
        Kind::UniqueItems => "items that all differ".to_owned(),
        Kind::Contains => "at least one item that matches `contains`".to_owned(),
        Kind::FalseSchema => "no value".to_owned(),
        Kind::Not { schema } => {
            format!("anything but {}", truncate(&schema.to_string(), 2 * VALUE))
        }
        Kind::OneOfMultipleValid { .. } => {
            "a value that matches exactly one of the alternatives".to_owned()
        }
        _ => "another value".to_owned(),
    }
}

fn type_name(one: JsonType) -> &'static str {
    match one {
        JsonType::Null => "null",
        JsonType::Boolean => "true or false",
        JsonType::Integer => "an integer",
        JsonType::Number => "a number",
        JsonType::String => "a string",
        JsonType::Array => "an array",
        JsonType::Object => "an object",
    }
}

fn some(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn either(mut names: Vec<String>) -> String {
    names.dedup();
    match names.split_last() {
        None => "another value".to_owned(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

fn options_of(options: &Value) -> String {
    let Some(all) = options.as_array() else {
        return shown(options);
    };
    let mut named: Vec<String> = all.iter().take(OPTIONS).map(shown).collect();
    if all.len() > OPTIONS {
        named.push("…".to_owned());
    }
    match named.as_slice() {
        [only] => only.clone(),
        _ => format!("one of {}", named.join(", ")),
    }
}

/// Returns the fault for a missing member, with a brief expectation if the schema declares one.
fn missing(
    path: &str,
    property: &Value,
    error: &ValidationError<'_>,
    schema: &Value,
) -> ArgumentFault {
    let name = property.as_str().unwrap_or_default();
    let declared = around(error, schema).and_then(|outer| outer.get("properties")?.get(name));
    let expected = declared.and_then(brief_expectation).unwrap_or_else(|| "required".to_owned());
    ArgumentFault { path: format!("{path}/{}", escaped(name)), expected, got: String::new() }
}

fn brief_expectation(schema: &Value) -> Option<String> {
    if let Some(options) = schema.get("enum") {
        return Some(options_of(options));
    }
    if let Some(value) = schema.get("const") {
        return Some(shown(value));
    }
    let article = |name: &Value| name.as_str()?.parse().ok().map(|one| type_name(one).to_owned());
    match schema.get("type")? {
        Value::Array(several) => Some(either(several.iter().filter_map(article).collect())),
        one => article(one),
    }
}

/// Returns the schema that contains the violated keyword.
fn around<'a>(error: &ValidationError<'_>, schema: &'a Value) -> Option<&'a Value> {
    let keyword = error.schema_path().as_str();
    schema.pointer(&keyword[..keyword.rfind('/')?])
}

fn unknown(names: &[String], error: &ValidationError<'_>, schema: &Value) -> Vec<ArgumentFault> {
    let path = error.instance_path().as_str();
    let known = around(error, schema).and_then(|outer| outer.get("properties")?.as_object());
    let expected = match known.map(|known| known.keys().cloned().collect::<Vec<_>>()) {
        Some(known) if !known.is_empty() => {
            format!("no such member (known: {})", truncate(&known.join(", "), 3 * VALUE))
        }
        _ => "no such member".to_owned(),
    };
    let one = |name: &String| ArgumentFault {
        path: format!("{path}/{}", escaped(&truncate(name, VALUE))),
        expected: expected.clone(),
        got: error.instance().get(name).map(shown).unwrap_or_default(),
    };
    names.iter().take(MEMBERS).map(one).collect()
}

/// Returns the faults of the most likely intended alternative, or a fault that lists all accepted
/// types.
fn alternatives(
    error: &ValidationError<'_>,
    context: &[Vec<ValidationError<'static>>],
    schema: &Value,
) -> Vec<ArgumentFault> {
    let path = error.instance_path().as_str();
    let misses_kind = |branch: &&Vec<ValidationError<'static>>| {
        branch.iter().any(|inner| {
            inner.instance_path().as_str() == path
                && matches!(
                    inner.kind(),
                    Kind::Type { .. } | Kind::Enum { .. } | Kind::Constant { .. }
                )
        })
    };
    let misses_tag = |branch: &&Vec<ValidationError<'static>>| {
        branch.iter().any(|inner| matches!(inner.kind(), Kind::Constant { .. } | Kind::Enum { .. }))
    };
    let kin: Vec<_> = context.iter().filter(|branch| !misses_kind(branch)).collect();
    let tagged: Vec<_> = kin.iter().copied().filter(|branch| !misses_tag(branch)).collect();
    let meant = if tagged.is_empty() { &kin } else { &tagged };
    if let Some(closest) = meant.iter().min_by_key(|branch| branch.len()) {
        return closest.iter().flat_map(|inner| from_error(inner, schema)).collect();
    }
    let named = context
        .iter()
        .filter_map(|branch| branch.iter().find(|inner| inner.instance_path().as_str() == path))
        .map(|inner| expectation(inner.kind()))
        .collect();
    vec![ArgumentFault {
        path: path.to_owned(),
        expected: either(named),
        got: shown(error.instance()),
    }]
}
