//! Whether a tool's definition can be used at all.
//!
//! A tool that cannot is left out alone, with what is said here as its diagnostic. Names and
//! descriptions are not looked at: they are others' business.

use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};

use crate::bounds::{self, Effort};
use crate::places::inner;
use crate::plain::is_plain;
use crate::unusable::Unusable;
use crate::{faults, numbers};

/// Memory for all regular expressions of one schema together.
const PATTERN_BYTES: usize = 32 * 1024 * 1024;
/// Memory for one of them.
const ONE_PATTERN_BYTES: usize = 10 * 1024 * 1024;

/// Whether a tool's definition can be used: a present input schema for an object, valid in its
/// dialect, complete in itself and of bounded weight; an output schema, if there is one, likewise.
pub fn check(definition: &[u8]) -> Result<(), Unusable> {
    let definition = parsed(definition)?;
    let input = usable(&input_schema(&definition)?);
    input.map_err(|unusable| unusable.under("/inputSchema"))?;
    match definition.get("outputSchema") {
        None => Ok(()),
        Some(schema) => usable(schema).map_err(|unusable| unusable.under("/outputSchema")),
    }
}

fn usable(schema: &Value) -> Result<(), Unusable> {
    let draft = dialect_of(schema)?;
    let effort = bounds::weigh(schema, draft)?;
    if draft > Draft::Draft4 && is_plain(schema) {
        return Ok(());
    }
    build(schema, draft, &effort).map(drop)
}

/// A definition as an object.
pub(crate) fn parsed(definition: &[u8]) -> Result<Map<String, Value>, Unusable> {
    if definition.len() > bounds::BYTES {
        let what = format!("more than {} bytes", bounds::BYTES);
        return Err(Unusable::new("", what));
    }
    match numbers::read(definition) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(Unusable::new("", "a definition that is no object")),
        Err(error) => Err(Unusable::new("", format!("a definition that cannot be read: {error}"))),
    }
}

/// The input schema of a definition, as far as its root goes.
pub(crate) fn input_schema(definition: &Map<String, Value>) -> Result<Value, Unusable> {
    let at = "/inputSchema";
    let schema =
        definition.get("inputSchema").ok_or_else(|| Unusable::new("", "no `inputSchema`"))?;
    let Value::Object(root) = schema else {
        return Err(Unusable::new(at, "an input schema that is no object"));
    };
    // Servers that leave the type out mean an object: arguments are nothing else.
    let takes_objects = match root.get("type") {
        None => true,
        Some(Value::Array(types)) => types.iter().any(|one| one == "object"),
        Some(one) => one == "object",
    };
    if takes_objects {
        Ok(schema.clone())
    } else {
        Err(Unusable::new(
            format!("{at}/type"),
            "an input schema for something else than an object",
        ))
    }
}

/// An input schema ready to check arguments, with what a check may cost.
pub(crate) fn compiled(schema: &Value) -> Result<(Validator, Effort), Unusable> {
    compile(schema).map_err(|unusable| unusable.under("/inputSchema"))
}

fn compile(schema: &Value) -> Result<(Validator, Effort), Unusable> {
    let draft = dialect_of(schema)?;
    let effort = bounds::weigh(schema, draft)?;
    Ok((build(schema, draft, &effort)?, effort))
}

fn dialect_of(schema: &Value) -> Result<Draft, Unusable> {
    if schema.is_object() || schema.is_boolean() {
        return dialect(schema);
    }
    Err(Unusable::new("", "a schema that is no object"))
}

fn build(schema: &Value, draft: Draft, effort: &Effort) -> Result<Validator, Unusable> {
    options(draft, effort.patterns).build(schema).map_err(|error| not_valid(&error))
}

/// The dialect a schema is written in: the one it names, else the one it plainly uses.
///
/// Without a name it is 2020-12. Tuples and boolean bounds of older dialects would be faults there,
/// and servers that write them without naming a dialect are many.
pub(crate) fn dialect(schema: &Value) -> Result<Draft, Unusable> {
    match schema.get("$schema") {
        None => Ok(apparent(schema)),
        Some(Value::String(name)) => match Draft::from_schema_uri(name) {
            Draft::Unknown => Err(Unusable::new("/$schema", format!("unknown dialect `{name}`"))),
            known => Ok(known),
        },
        Some(_) => Err(Unusable::new("/$schema", "a dialect that is no text")),
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
    inner(map).into_iter().map(|child| apparent(child.schema)).fold(own, Draft::min)
}

/// Formats and contents are annotations here in every dialect: servers check what they mean by
/// them, and a call refused over the finer points of an address helps nobody.
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

fn not_valid(error: &ValidationError<'_>) -> Unusable {
    let path = error.instance_path().as_str();
    match faults::of(error).into_iter().next() {
        Some(fault) => {
            let what = format!("expected {}, got {}", fault.expected, fault.got);
            Unusable::new(fault.path, what)
        }
        None => Unusable::new(path, error.to_string()),
    }
}
