//! The rules for the schema object of Gemini and Vertex.

use serde_json::{Map, Value};

/// The fields of the schema object.
const FIELDS: [&str; 22] = [
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "maxItems",
    "minItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "anyOf",
    "propertyOrdering",
    "default",
    "items",
    "minimum",
    "maximum",
];

pub(super) fn refused(schema: &Value, vertex: bool) -> Vec<String> {
    let mut rules = GoogleSchemaChecker { vertex, refused: Vec::new() };
    rules.schema(schema, "");
    if schema.get("type").and_then(Value::as_str).map(str::to_ascii_lowercase).as_deref()
        != Some("object")
    {
        rules.say("", "the type of the root must be object");
    }
    rules.refused
}

/// Collects what Gemini or Vertex would refuse in a schema.
struct GoogleSchemaChecker {
    vertex: bool,
    refused: Vec<String>,
}

impl GoogleSchemaChecker {
    fn say(&mut self, path: &str, rule: &str) {
        self.refused.push(format!("{path}: {rule}"));
    }

    fn schema(&mut self, schema: &Value, path: &str) {
        let Value::Object(map) = schema else {
            return self.say(path, "a schema must be an object");
        };
        for field in map.keys().filter(|field| !FIELDS.contains(&field.as_str())) {
            self.say(path, &format!("unknown field {field}"));
        }
        self.kind(map, path);
        self.values(map, path);
        self.counts(map, path);
        self.object(map, path);
        if let Some(items) = map.get("items") {
            self.schema(items, &format!("{path}/items"));
        }
        match map.get("anyOf") {
            None => {}
            Some(Value::Array(all)) if !all.is_empty() => {
                for (index, one) in all.iter().enumerate() {
                    self.schema(one, &format!("{path}/anyOf/{index}"));
                }
            }
            Some(_) => self.say(path, "anyOf must be a non-empty list"),
        }
    }

    fn kind(&mut self, map: &Map<String, Value>, path: &str) {
        let named = map.get("type").map(|name| name.as_str().map(str::to_ascii_lowercase));
        let name = match &named {
            None if map.contains_key("anyOf") => {
                let beside = ["anyOf", "title", "description", "nullable", "example"];
                for field in map.keys().filter(|field| !beside.contains(&field.as_str())) {
                    self.say(path, &format!("{field} is not allowed beside anyOf"));
                }
                if self.vertex && map.len() > 1 {
                    self.say(path, "nothing else is allowed beside anyOf");
                }
                return;
            }
            None => return self.say(path, "type or anyOf is missing"),
            Some(None) => return self.say(path, "type must be a single name"),
            Some(Some(name)) => name.as_str(),
        };
        if map.contains_key("anyOf") {
            self.say(path, "type is not allowed beside anyOf");
        }
        let formats: &[&str] = match name {
            "string" => &["enum", "date-time"],
            "integer" => &["int32", "int64"],
            "number" => &["float", "double"],
            "boolean" | "array" | "object" | "null" => &[],
            _ => return self.say(path, "unknown type"),
        };
        if let Some(format) = map.get("format")
            && !format.as_str().is_some_and(|format| formats.contains(&format))
        {
            self.say(path, "unknown format");
        }
        if name == "array" && !map.contains_key("items") {
            self.say(path, "an array must have items");
        }
        for (field, owner) in [("items", "array"), ("properties", "object"), ("enum", "string")] {
            if map.contains_key(field) && name != owner {
                self.say(path, &format!("{field} is only allowed for type {owner}"));
            }
        }
    }

    fn values(&mut self, map: &Map<String, Value>, path: &str) {
        if let Some(values) = map.get("enum") {
            let texts = values.as_array().filter(|values| {
                !values.is_empty()
                    && values.iter().all(|one| one.as_str().is_some_and(|one| !one.is_empty()))
            });
            if texts.is_none() {
                self.say(path, "enum must be a list of non-empty strings");
            }
        }
        for field in ["title", "description", "pattern"] {
            if map.get(field).is_some_and(|value| !value.is_string()) {
                self.say(path, &format!("{field} must be a string"));
            }
        }
        if map.get("nullable").is_some_and(|value| !value.is_boolean()) {
            self.say(path, "nullable must be a boolean");
        }
        for field in ["minimum", "maximum"] {
            if map.get(field).is_some_and(|value| !value.is_number()) {
                self.say(path, &format!("{field} must be a number"));
            }
        }
    }

    fn counts(&mut self, map: &Map<String, Value>, path: &str) {
        let fields =
            ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];
        for field in fields {
            if map.get(field).is_some_and(|value| value.as_i64().is_none()) {
                self.say(path, &format!("{field} must be an integer"));
            }
        }
    }

    fn object(&mut self, map: &Map<String, Value>, path: &str) {
        let properties = match map.get("properties") {
            None => None,
            Some(Value::Object(properties)) => Some(properties),
            Some(_) => return self.say(path, "properties must be a map of schemas"),
        };
        for (name, schema) in properties.into_iter().flatten() {
            self.schema(schema, &format!("{path}/properties/{name}"));
        }
        let Some(required) = map.get("required") else {
            return;
        };
        let Some(required) = required.as_array() else {
            return self.say(path, "required must be a list");
        };
        for name in required {
            let known = name.as_str().and_then(|name| properties?.get(name));
            if known.is_none() {
                self.say(path, &format!("required: {name} is not in properties"));
            }
        }
    }
}
