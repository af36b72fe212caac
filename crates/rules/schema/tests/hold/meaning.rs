//! What schemas of providers mean, in JSON Schema.

use serde_json::{Map, Value, json};

/// Google's schema object: `nullable` is the only word JSON Schema does not have.
pub fn of_google(schema: &Value) -> Value {
    let Value::Object(map) = schema else {
        return schema.clone();
    };
    let mut out = Map::new();
    for (field, value) in map {
        let value = match (field.as_str(), value) {
            ("properties", Value::Object(all)) => {
                let each = all.iter().map(|(name, one)| (name.clone(), of_google(one)));
                Value::Object(each.collect())
            }
            ("anyOf", Value::Array(all)) => all.iter().map(of_google).collect(),
            ("items", one) => of_google(one),
            ("nullable", _) => continue,
            (_, other) => other.clone(),
        };
        out.insert(field.clone(), value);
    }
    match map.get("nullable") {
        Some(Value::Bool(true)) => json!({ "anyOf": [{ "type": "null" }, out] }),
        _ => Value::Object(out),
    }
}

/// An object with the names an adapted schema gives to members, which it mentions in their words.
pub fn renamed(object: &Value, adapted: &Value) -> Value {
    let Value::Object(map) = object else {
        return object.clone();
    };
    let properties = adapted.get("properties").and_then(Value::as_object);
    let called = |name: &String| {
        let mark = format!("called {name:?} by the tool");
        let has_mark = |schema: &Value| {
            schema["description"].as_str().is_some_and(|words| words.contains(&mark))
        };
        let shown = properties.into_iter().flatten().find(|(_, schema)| has_mark(schema));
        shown.map_or(name, |(shown, _)| shown).clone()
    };
    Value::Object(map.iter().map(|(name, value)| (called(name), value.clone())).collect())
}
