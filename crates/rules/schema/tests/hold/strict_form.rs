//! How an object is said in strict mode: every member is there, and a value the schema offers for
//! it stands for each that is not. Read from the adapted schema alone.

use std::cell::RefCell;
use std::collections::HashMap;

use jsonschema::Validator;
use serde_json::{Map, Value, json};

/// Finds the forms of objects under one strict schema.
pub struct Former<'a> {
    root: &'a Value,
    scalars: RefCell<HashMap<*const Value, Validator>>,
}

impl<'a> Former<'a> {
    pub fn of(root: &'a Value) -> Self {
        Self { root, scalars: RefCell::default() }
    }

    /// The form of an object, if there is one.
    pub fn form(&self, object: &Value) -> Option<Value> {
        self.value(object, self.root)
    }

    fn value(&self, value: &Value, schema: &'a Value) -> Option<Value> {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            return self.value(value, self.root.pointer(&reference[1..])?);
        }
        if let Some(Value::Array(all)) = schema.get("anyOf") {
            return all.iter().find_map(|one| self.value(value, one));
        }
        match value {
            Value::Object(map) if admits(schema, "object") => self.members(map, schema),
            Value::Array(list) if admits(schema, "array") => {
                let items = schema.get("items")?;
                let all = list.iter().map(|one| self.value(one, items)).collect::<Option<Vec<_>>>();
                all.map(Value::Array).filter(|_| in_bounds(list.len(), schema))
            }
            Value::Object(_) | Value::Array(_) => None,
            scalar => self.is_scalar(scalar, schema).then(|| scalar.clone()),
        }
    }

    fn is_scalar(&self, scalar: &Value, schema: &'a Value) -> bool {
        if admits(schema, "object") || admits(schema, "array") {
            return false;
        }
        let mut known = self.scalars.borrow_mut();
        let make = || jsonschema::validator_for(schema).expect("a schema");
        known.entry(schema).or_insert_with(make).is_valid(scalar)
    }

    fn members(&self, map: &Map<String, Value>, schema: &'a Value) -> Option<Value> {
        let properties = schema.get("properties")?.as_object()?;
        if map.keys().any(|name| !properties.contains_key(name)) {
            return None;
        }
        let mut out = Map::new();
        for (name, schema) in properties {
            let value = match map.get(name) {
                Some(value) => self.value(value, schema)?,
                None => absent(schema)?,
            };
            out.insert(name.clone(), value);
        }
        Some(Value::Object(out))
    }
}

fn admits(schema: &Value, name: &str) -> bool {
    schema.get("type").is_some_and(|one| one == name)
}

fn in_bounds(length: usize, schema: &Value) -> bool {
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
    let length = length as u64;
    bound("minItems").is_none_or(|least| length >= least)
        && bound("maxItems").is_none_or(|most| length <= most)
}

/// The value a schema offers for «not there»: its last alternative.
fn absent(schema: &Value) -> Option<Value> {
    let last = match schema.get("anyOf") {
        Some(Value::Array(all)) => all.last()?,
        _ => schema,
    };
    match last.get("type")? {
        Value::Array(types) if types.iter().any(|one| one == "null") => Some(Value::Null),
        Value::String(name) => match name.as_str() {
            "null" => Some(Value::Null),
            "boolean" if last["enum"] == json!([false]) => Some(json!(false)),
            "object" if last["properties"] == json!({}) => Some(json!({})),
            "array" if last["maxItems"] == json!(0) => Some(json!([])),
            _ => None,
        },
        _ => None,
    }
}
