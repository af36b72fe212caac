//! Recognises obviously valid schemas without a validator. Most tools have such a schema.
//!
//! Compiling a schema loads the meta-schemas of every dialect into memory, even for tools that are
//! never called. A schema that is plain here always compiles; one that is not may still be valid.

use serde_json::Value;

/// Returns true if a schema contains only common keywords with valid values, which mean the same in
/// every dialect since draft 6.
pub(crate) fn is_plain(schema: &Value) -> bool {
    match schema {
        Value::Bool(_) => true,
        Value::Object(words) => words.iter().all(|(word, value)| is_plain_word(word, value)),
        _ => false,
    }
}

fn is_plain_word(word: &str, value: &Value) -> bool {
    match word {
        "type" => is_type(value) || is_list(value, is_type) && differ(value),
        "$schema" => value.is_string(), // the caller has checked the dialect
        "description" | "title" | "$comment" | "format" => value.is_string(),
        "properties" => value.as_object().is_some_and(|schemas| schemas.values().all(is_plain)),
        "items" | "additionalProperties" | "not" => is_plain(value),
        "anyOf" | "oneOf" | "allOf" => is_list(value, is_plain),
        "required" => {
            value.as_array().is_some_and(|names| names.iter().all(Value::is_string))
                && differ(value)
        }
        "enum" => is_list(value, |_| true) && differ(value),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            value.is_u64()
        }
        "uniqueItems" => value.is_boolean(),
        "default" | "const" => true,
        "examples" => value.is_array(),
        _ => false,
    }
}

fn is_type(value: &Value) -> bool {
    let known = ["array", "boolean", "integer", "null", "number", "object", "string"];
    value.as_str().is_some_and(|name| known.contains(&name))
}

fn is_list(value: &Value, of: impl Fn(&Value) -> bool) -> bool {
    value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(of))
}

/// Returns true if all elements differ. Returns false for long lists, which the validator checks
/// faster.
fn differ(value: &Value) -> bool {
    let items = value.as_array().map_or(&[][..], Vec::as_slice);
    items.len() <= 256 && items.iter().enumerate().all(|(at, item)| !items[..at].contains(item))
}
