//! JSON text to the common tree: comments and trailing commas are fine, other looseness is not.

use jsonc_parser::ast::{Object, Value as JsonValue};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::frame::tree::{Member, Node, SyntaxError, Value};

/// Parses a whole document; an empty one is an empty object, as a file just created is.
pub(crate) fn parse(text: &str) -> Result<Vec<Member>, SyntaxError> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options());
    let root = parsed.map_err(|error| SyntaxError {
        at: error.range().start,
        message: error.kind().to_string().to_lowercase(),
    })?;
    match root.value {
        None => Ok(Vec::new()),
        Some(JsonValue::Object(object)) => Ok(members(object)),
        Some(other) => Err(SyntaxError {
            at: other.range().start,
            message: format!("expected an object, found {}", node(other).value.kind()),
        }),
    }
}

/// What is taken for JSON.
pub(crate) fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn members(object: Object<'_>) -> Vec<Member> {
    object
        .properties
        .into_iter()
        .map(|property| Member {
            at: property.range.start,
            key: property.name.into_string(),
            node: node(property.value),
        })
        .collect()
}

fn node(value: JsonValue<'_>) -> Node {
    let at = value.range().start;
    let value = match value {
        JsonValue::NullKeyword(_) => Value::Null,
        JsonValue::BooleanLit(flag) => Value::Flag(flag.value),
        JsonValue::NumberLit(number) => {
            let spelled = number.value;
            spelled.parse().map_or_else(|_| Value::Fraction(spelled.to_owned()), Value::Integer)
        }
        JsonValue::StringLit(text) => Value::Text(text.value.into_owned()),
        JsonValue::Array(array) => Value::List(array.elements.into_iter().map(node).collect()),
        JsonValue::Object(object) => Value::Table(members(object)),
    };
    Node { at, value }
}
