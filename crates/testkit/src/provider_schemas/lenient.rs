//! The rules of OpenAI without strict mode and of Anthropic: JSON Schema 2020-12 with restrictions
//! on the root.

use serde_json::{Map, Value};

pub(super) fn refused_by_openai(schema: &Value) -> Vec<String> {
    let mut refused = common(schema);
    for keyword in ["oneOf", "anyOf", "allOf", "enum", "not", "const", "$ref"] {
        if schema.get(keyword).is_some() {
            refused.push(format!(": {keyword} is not allowed at the root"));
        }
    }
    if !schema.get("properties").is_some_and(Value::is_object) {
        refused.push(": an object schema must have properties".to_owned());
    }
    each_schema(schema, "", &mut |map, path| arrays_without_items(map, path, &mut refused));
    refused
}

pub(super) fn refused_by_anthropic(schema: &Value) -> Vec<String> {
    let mut refused = common(schema);
    for keyword in ["oneOf", "anyOf", "allOf", "$ref"] {
        if schema.get(keyword).is_some() {
            refused.push(format!(": {keyword} is not allowed at the root"));
        }
    }
    let names = schema.get("properties").and_then(Value::as_object);
    for name in names.into_iter().flatten().map(|(name, _)| name) {
        let is_good = |one: char| one.is_ascii_alphanumeric() || "_.-".contains(one);
        if name.is_empty() || name.chars().count() > 64 || !name.chars().all(is_good) {
            refused.push(format!("/properties: the name {name:?} is not allowed"));
        }
    }
    refused
}

fn common(schema: &Value) -> Vec<String> {
    let mut refused = Vec::new();
    if schema.get("type") != Some(&Value::from("object")) {
        refused.push(": the type of the root must be object".to_owned());
    }
    if let Err(error) = jsonschema::draft202012::meta::validate(schema) {
        refused.push(format!("{}: {error}", error.instance_path()));
    } else if let Err(error) = jsonschema::draft202012::options().offline().build(schema) {
        refused.push(format!(": {error}"));
    }
    each_schema(schema, "", &mut |map, path| {
        let reference = map.get("$ref").and_then(Value::as_str);
        let target = reference.map(|text| text.strip_prefix('#').and_then(|at| schema.pointer(at)));
        if target == Some(None) {
            refused.push(format!("{path}: the target of $ref does not exist"));
        }
    });
    refused
}

fn arrays_without_items(map: &Map<String, Value>, path: &str, refused: &mut Vec<String>) {
    let is_array = match map.get("type") {
        Some(Value::Array(several)) => several.iter().any(|one| one == "array"),
        Some(one) => one == "array",
        None => false,
    };
    if is_array && !map.contains_key("items") {
        refused.push(format!("{path}: an array must have items"));
    }
}

/// Calls `see` with every object that may be a schema. Values of data keywords are skipped, except
/// in a map of schemas, where such a keyword is an ordinary name.
fn each_schema(value: &Value, path: &str, see: &mut impl FnMut(&Map<String, Value>, &str)) {
    match value {
        Value::Object(map) => {
            let holds_names = ["/properties", "/patternProperties", "/$defs", "/definitions"];
            let names = holds_names.iter().any(|keyword| path.ends_with(keyword));
            if !names {
                see(map, path);
            }
            let is_data = |key: &str| ["enum", "const", "default", "examples"].contains(&key);
            for (key, inner) in map.iter().filter(|(key, _)| names || !is_data(key)) {
                // A member may have the name of a keyword; its value is a schema.
                let key = if names { "name" } else { key.as_str() };
                each_schema(inner, &format!("{path}/{key}"), see);
            }
        }
        Value::Array(list) => {
            for (index, inner) in list.iter().enumerate() {
                each_schema(inner, &format!("{path}/{index}"), see);
            }
        }
        _ => {}
    }
}
