//! The rules of OpenAI's strict mode: permitted keywords, the required form of objects, and limits.

use serde_json::{Map, Value};

const EVERYWHERE: [&str; 5] = ["type", "description", "title", "enum", "const"];
const OF_STRINGS: [&str; 2] = ["pattern", "format"];
const OF_NUMBERS: [&str; 5] =
    ["multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"];
const OF_ARRAYS: [&str; 3] = ["items", "minItems", "maxItems"];
const OF_OBJECTS: [&str; 3] = ["properties", "required", "additionalProperties"];
const FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
const TYPES: [&str; 7] = ["string", "number", "boolean", "integer", "object", "array", "null"];

pub(super) fn refused(schema: &Value) -> Vec<String> {
    let mut rules = OpenAiSchemaChecker { root: schema, ..OpenAiSchemaChecker::new(schema) };
    if schema.get("type") != Some(&Value::from("object")) {
        rules.say("", "the type of the root must be object");
    }
    if schema.get("anyOf").is_some() {
        rules.say("", "anyOf is not allowed at the root");
    }
    rules.schema(schema, "", 1);
    if let Some(defs) = schema.get("$defs") {
        let Value::Object(defs) = defs else {
            rules.say("/$defs", "$defs must be a map of schemas");
            return rules.refused;
        };
        for (name, one) in defs {
            rules.text += name.len();
            rules.schema(one, &format!("/$defs/{name}"), 1);
        }
    }
    rules.limits();
    rules.refused
}

/// Collects what OpenAI's strict mode would refuse in a schema.
struct OpenAiSchemaChecker<'a> {
    root: &'a Value,
    refused: Vec<String>,
    properties: usize,
    values: usize,
    text: usize,
}

impl<'a> OpenAiSchemaChecker<'a> {
    fn new(root: &'a Value) -> Self {
        Self { root, refused: Vec::new(), properties: 0, values: 0, text: 0 }
    }

    fn say(&mut self, path: &str, rule: &str) {
        self.refused.push(format!("{path}: {rule}"));
    }

    fn limits(&mut self) {
        for (count, most, what) in [
            (self.properties, 5_000, "properties"),
            (self.values, 1_000, "values of enumerations"),
            (self.text, 120_000, "characters of names and values"),
        ] {
            if count > most {
                self.say("", &format!("at most {most} {what} are allowed"));
            }
        }
    }

    fn schema(&mut self, schema: &Value, path: &str, level: usize) {
        let Value::Object(map) = schema else {
            return self.say(path, "a schema must be an object");
        };
        if level > 10 {
            return self.say(path, "at most 10 levels are allowed");
        }
        if map.contains_key("$ref") {
            return self.reference(map, path);
        }
        let types = self.types(map, path);
        let has = |name: &str| types.iter().any(|one| one == name);
        let is_root = path.is_empty();
        for keyword in map.keys() {
            let keyword = keyword.as_str();
            let known = EVERYWHERE.contains(&keyword)
                || (OF_STRINGS.contains(&keyword) && has("string"))
                || (OF_NUMBERS.contains(&keyword) && (has("number") || has("integer")))
                || (OF_ARRAYS.contains(&keyword) && has("array"))
                || (OF_OBJECTS.contains(&keyword) && has("object"))
                || (keyword == "anyOf" && types.is_empty())
                || (keyword == "$defs" && is_root);
            if !known {
                self.say(path, &format!("{keyword} is not permitted"));
            }
        }
        self.values(map, path);
        if has("object") {
            self.object(map, path, level);
        }
        if has("array") {
            match map.get("items") {
                Some(items) => self.schema(items, &format!("{path}/items"), level + 1),
                None => self.say(path, "an array must have items"),
            }
        }
        if let Some(any) = map.get("anyOf") {
            let all = any.as_array().map(Vec::as_slice).unwrap_or_default();
            if all.is_empty() {
                self.say(path, "anyOf must be a non-empty list");
            }
            for (index, one) in all.iter().enumerate() {
                self.schema(one, &format!("{path}/anyOf/{index}"), level);
            }
        }
    }

    fn reference(&mut self, map: &Map<String, Value>, path: &str) {
        if map.len() > 1 {
            self.say(path, "nothing else is allowed beside $ref");
        }
        let target = match map.get("$ref").and_then(Value::as_str) {
            Some("#") => Some(self.root),
            Some(text) => {
                text.strip_prefix("#/$defs/").and_then(|name| self.root.get("$defs")?.get(name))
            }
            None => None,
        };
        if target.is_none() {
            self.say(path, "$ref must point to a definition or to the root");
        }
    }

    fn types(&mut self, map: &Map<String, Value>, path: &str) -> Vec<String> {
        let names: Vec<Option<&str>> = match map.get("type") {
            None => Vec::new(),
            Some(Value::Array(several)) => several.iter().map(Value::as_str).collect(),
            Some(one) => vec![one.as_str()],
        };
        if names.is_empty() && !map.contains_key("anyOf") {
            self.say(path, "type, anyOf or $ref is missing");
        }
        if names.iter().any(|name| !name.is_some_and(|name| TYPES.contains(&name))) {
            self.say(path, "unknown type");
        }
        names.into_iter().flatten().map(str::to_owned).collect()
    }

    fn values(&mut self, map: &Map<String, Value>, path: &str) {
        if let Some(values) = map.get("enum") {
            let list = values.as_array().map(Vec::as_slice).unwrap_or_default();
            if list.is_empty() || list.iter().any(|one| one.is_object() || one.is_array()) {
                self.say(path, "enum must be a non-empty list of scalar values");
            }
            self.values += list.len();
            let texts = list.iter().filter_map(Value::as_str).map(str::len).sum::<usize>();
            self.text += texts;
            if list.len() > 250 && texts > 15_000 {
                self.say(
                    path,
                    "an enum with more than 250 values may have at most 15000 characters",
                );
            }
        }
        let format = map.get("format");
        if format.is_some_and(|one| !one.as_str().is_some_and(|one| FORMATS.contains(&one))) {
            self.say(path, "unknown format");
        }
        let pattern = map.get("pattern").and_then(Value::as_str).unwrap_or_default();
        if ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|look| pattern.contains(look)) {
            self.say(path, "look-around is not allowed in patterns");
        }
    }

    fn object(&mut self, map: &Map<String, Value>, path: &str, level: usize) {
        if map.get("additionalProperties") != Some(&Value::Bool(false)) {
            self.say(path, "additionalProperties must be false");
        }
        let Some(Value::Object(properties)) = map.get("properties") else {
            return self.say(path, "an object must have properties");
        };
        let required = map.get("required").and_then(Value::as_array);
        let required: Vec<&str> =
            required.into_iter().flatten().filter_map(Value::as_str).collect();
        if required.iter().any(|name| !properties.contains_key(*name)) {
            self.say(path, "required must only name properties");
        }
        for (name, schema) in properties {
            self.properties += 1;
            self.text += name.len();
            if !required.contains(&name.as_str()) {
                self.say(path, &format!("{name} must be required"));
            }
            self.schema(schema, &format!("{path}/properties/{name}"), level + 1);
        }
    }
}
