//! Placeholders for absent members, for providers that require every member.

use serde_json::{Map, Value, json};

use super::types::JsonTypeSet;

/// Returns a placeholder for an absent member, which has none of these types, and its schema.
pub(super) fn stand_in(types: JsonTypeSet) -> Option<(Value, Value)> {
    let empty = json!({
        "type": "object", "properties": {}, "required": [], "additionalProperties": false,
    });
    let none = json!({ "type": "array", "items": { "type": "string" }, "maxItems": 0 });
    [
        (JsonTypeSet::NULL, Value::Null, json!({ "type": "null" })),
        (JsonTypeSet::BOOLEAN, Value::Bool(false), json!({ "type": "boolean", "enum": [false] })),
        (JsonTypeSet::OBJECT, json!({}), empty),
        (JsonTypeSet::ARRAY, json!([]), none),
    ]
    .into_iter()
    .find(|(own, ..)| !types.meets(*own))
    .map(|(_, value, schema)| (value, schema))
}

/// Returns a schema that accepts the original values or the placeholder.
pub(super) fn with_stand_in(schema: Value, stand_in: Value, absent: &Value) -> Value {
    let mut map = match schema {
        Value::Object(map) => map,
        other => return other,
    };
    if absent.is_null() && make_nullable(&mut map) {
        return Value::Object(map);
    }
    let description = map.remove("description");
    let mut any = match map.remove("anyOf") {
        Some(Value::Array(any)) if map.is_empty() => any,
        Some(any) => {
            map.insert("anyOf".to_owned(), any);
            vec![Value::Object(map)]
        }
        None => vec![Value::Object(map)],
    };
    any.push(stand_in);
    let mut out = Map::from_iter([("anyOf".to_owned(), Value::Array(any))]);
    let leaves = format!("{absent} leaves it out");
    let words = match (description, absent.is_null()) {
        (words, true) => words,
        (Some(Value::String(words)), false) => Some(format!("{words} ({leaves})").into()),
        (_, false) => Some(leaves.into()),
    };
    if let Some(words) = words {
        out.insert("description".to_owned(), words);
    }
    Value::Object(out)
}

/// Adds null to a schema with one scalar type.
pub(super) fn make_nullable(map: &mut Map<String, Value>) -> bool {
    let Some(Value::String(name)) = map.get("type") else {
        return false;
    };
    if name == "object" || name == "array" {
        return false;
    }
    let types = json!([name, "null"]);
    map.insert("type".to_owned(), types);
    if let Some(Value::Array(values)) = map.get_mut("enum") {
        values.push(Value::Null);
    }
    true
}
