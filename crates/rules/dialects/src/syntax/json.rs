//! Parses JSON into the common tree. Comments and trailing commas are allowed, other extensions are
//! not.

use jsonc_parser::ast::{Object, Value as JsonValue};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::common::tree::{SyntaxError, TreeMember, TreeNode, TreeValue};

/// Parses a whole document. An empty file counts as an empty object.
pub(crate) fn parse(text: &str) -> Result<Vec<TreeMember>, SyntaxError> {
    match parse_value(text)? {
        None => Ok(Vec::new()),
        Some(JsonValue::Object(object)) => Ok(members(object)),
        Some(other) => Err(SyntaxError {
            at: other.range().start,
            message: format!("expected an object, found {}", node(other).value.kind()),
        }),
    }
}

/// Parses a document; `None` if it is empty.
pub(crate) fn parse_value(text: &str) -> Result<Option<JsonValue<'_>>, SyntaxError> {
    let options = ParseOptions {
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
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options);
    let root = parsed.map_err(|error| SyntaxError {
        at: error.range().start,
        message: error.kind().to_string().to_lowercase(),
    })?;
    Ok(root.value)
}

fn members(object: Object<'_>) -> Vec<TreeMember> {
    object
        .properties
        .into_iter()
        .map(|property| TreeMember {
            at: property.range.start,
            key: property.name.into_string(),
            node: node(property.value),
        })
        .collect()
}

fn node(value: JsonValue<'_>) -> TreeNode {
    let at = value.range().start;
    let value = match value {
        JsonValue::NullKeyword(_) => TreeValue::Null,
        JsonValue::BooleanLit(flag) => TreeValue::Flag(flag.value),
        JsonValue::NumberLit(number) => {
            let spelled = number.value;
            spelled
                .parse()
                .map_or_else(|_| TreeValue::Fraction(spelled.to_owned()), TreeValue::Integer)
        }
        JsonValue::StringLit(text) => TreeValue::Text(text.value.into_owned()),
        JsonValue::Array(array) => TreeValue::List(array.elements.into_iter().map(node).collect()),
        JsonValue::Object(object) => TreeValue::Table(members(object)),
    };
    TreeNode { at, value }
}
