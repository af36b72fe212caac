//! Checks whether a tool definition can be used.
//!
//! The gateway hides an unusable tool and shows the error as its diagnostic; the other tools of the
//! server stay. Names and descriptions are checked elsewhere.

use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};

use crate::bounds::{self, ValidationCost};
use crate::definition_error::DefinitionError;
use crate::plain::is_plain;
use crate::subschemas::direct_subschemas;
use crate::{faults, numbers};

/// The memory limit for all regular expressions of one schema together.
const PATTERN_BYTES: usize = 32 * 1024 * 1024;
/// The memory limit for one regular expression.
const ONE_PATTERN_BYTES: usize = 10 * 1024 * 1024;

/// Checks whether a tool definition can be used. It needs an input schema that accepts objects, is
/// valid in its dialect, has no external references and stays within the cost limits. An output
/// schema is optional and must meet the same conditions, except that it may accept other types.
pub fn check_definition(definition: &[u8]) -> Result<(), DefinitionError> {
    let definition = parse_definition(definition)?;
    let input = check_schema(&input_schema(&definition)?);
    input.map_err(|unusable| unusable.under("/inputSchema"))?;
    match definition.get("outputSchema") {
        None => Ok(()),
        Some(schema) => check_schema(schema).map_err(|unusable| unusable.under("/outputSchema")),
    }
}

fn check_schema(schema: &Value) -> Result<(), DefinitionError> {
    let draft = dialect_of(schema)?;
    let effort = bounds::estimate_cost(schema, draft)?;
    if draft > Draft::Draft4 && is_plain(schema) {
        return Ok(());
    }
    build(schema, draft, &effort).map(drop)
}

/// Parses a definition.
pub(crate) fn parse_definition(definition: &[u8]) -> Result<Map<String, Value>, DefinitionError> {
    if definition.len() > bounds::BYTES {
        let what = format!("the definition has more than {} bytes", bounds::BYTES);
        return Err(DefinitionError::new("", what));
    }
    match numbers::read(definition) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(DefinitionError::new("", "the definition is not an object")),
        Err(error) => {
            Err(DefinitionError::new("", format!("the definition is not valid JSON: {error}")))
        }
    }
}

/// Returns the input schema of a definition after checking the type of its root.
pub(crate) fn input_schema(definition: &Map<String, Value>) -> Result<Value, DefinitionError> {
    let at = "/inputSchema";
    let schema = definition
        .get("inputSchema")
        .ok_or_else(|| DefinitionError::new("", "`inputSchema` is missing"))?;
    let Value::Object(root) = schema else {
        return Err(DefinitionError::new(at, "the input schema is not an object"));
    };
    // Servers that omit the type mean an object, because arguments are always objects.
    let takes_objects = match root.get("type") {
        None => true,
        Some(Value::Array(types)) => types.iter().any(|one| one == "object"),
        Some(one) => one == "object",
    };
    if takes_objects {
        Ok(schema.clone())
    } else {
        Err(DefinitionError::new(format!("{at}/type"), "the input schema does not accept objects"))
    }
}

/// Compiles an input schema and estimates the cost of a validation.
pub(crate) fn compile_input_schema(
    schema: &Value,
) -> Result<(Validator, ValidationCost), DefinitionError> {
    let compile = || {
        let draft = dialect_of(schema)?;
        let effort = bounds::estimate_cost(schema, draft)?;
        Ok((build(schema, draft, &effort)?, effort))
    };
    compile().map_err(|unusable: DefinitionError| unusable.under("/inputSchema"))
}

fn dialect_of(schema: &Value) -> Result<Draft, DefinitionError> {
    if schema.is_object() || schema.is_boolean() {
        return dialect(schema);
    }
    Err(DefinitionError::new("", "the schema is not an object"))
}

fn build(
    schema: &Value,
    draft: Draft,
    effort: &ValidationCost,
) -> Result<Validator, DefinitionError> {
    options(draft, effort.patterns).build(schema).map_err(|error| not_valid(&error))
}

/// Returns the dialect of a schema: the one it names, or else the one that its keywords show.
///
/// The default is 2020-12. Many servers use tuples or boolean bounds of older dialects, which are
/// invalid in 2020-12, without naming a dialect.
pub(crate) fn dialect(schema: &Value) -> Result<Draft, DefinitionError> {
    match schema.get("$schema") {
        None => Ok(apparent(schema)),
        Some(Value::String(name)) => match Draft::from_schema_uri(name) {
            Draft::Unknown => {
                Err(DefinitionError::new("/$schema", format!("unknown dialect `{name}`")))
            }
            known => Ok(known),
        },
        Some(_) => Err(DefinitionError::new("/$schema", "`$schema` is not a string")),
    }
}

fn apparent(schema: &Value) -> Draft {
    let Some(map) = schema.as_object() else {
        return Draft::Draft202012;
    };
    let is_flag = |keyword: &str| map.get(keyword).is_some_and(Value::is_boolean);
    let own = if is_flag("exclusiveMinimum") || is_flag("exclusiveMaximum") {
        Draft::Draft4
    } else if map.get("items").is_some_and(Value::is_array) {
        Draft::Draft7
    } else {
        Draft::Draft202012
    };
    direct_subschemas(map).into_iter().map(|child| apparent(child.schema)).fold(own, Draft::min)
}

/// Returns the validator options. Formats and contents are annotations in every dialect: the server
/// checks them itself, and refusing a call over the details of an address format helps no user.
fn options<'a>(draft: Draft, patterns: usize) -> jsonschema::ValidationOptions<'a> {
    let bytes = (PATTERN_BYTES / patterns.max(1)).min(ONE_PATTERN_BYTES);
    let regex = PatternOptions::fancy_regex().size_limit(bytes);
    jsonschema::options()
        .with_draft(draft)
        .with_pattern_options(regex)
        .should_validate_formats(false)
        .without_content_encoding_support("base64")
        .without_content_media_type_support("application/json")
        .offline()
}

fn not_valid(error: &ValidationError<'_>) -> DefinitionError {
    let path = error.instance_path().as_str();
    match faults::from_error(error, &Value::Null).into_iter().next() {
        Some(fault) => {
            let what = format!("expected {}, got {}", fault.expected, fault.got);
            DefinitionError::new(fault.path, what)
        }
        None => DefinitionError::new(path, error.to_string()),
    }
}
