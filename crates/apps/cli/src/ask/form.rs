//! The forms servers may ask to be filled in: flat objects of texts, numbers, flags and choices.

use serde_json::{Map, Value, json};

/// One field of a form.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its key in the answer.
    pub key: String,
    /// What it is called.
    pub title: String,
    /// What it is for.
    pub description: String,
    /// What fits.
    pub kind: Kind,
    /// What stands there already.
    pub default: Option<Value>,
    /// Whether it must be filled in.
    pub required: bool,
}

/// What fits into a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A number.
    Number,
    /// A whole number.
    Integer,
    /// Yes or no.
    Flag,
    /// One of these.
    One(Vec<Choice>),
    /// Any of these.
    Many(Vec<Choice>),
}

/// One thing to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What is answered.
    pub value: String,
    /// What is shown.
    pub label: String,
}

/// The fields of a requested schema, in its order.
pub fn fields(schema: &Value) -> Vec<Field> {
    let required: Vec<_> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let field = |(key, property): (&String, &Value)| Field {
        key: key.clone(),
        title: property["title"].as_str().unwrap_or(key).to_owned(),
        description: text(&property["description"]),
        kind: kind(property),
        default: property.get("default").cloned(),
        required: required.contains(&key.as_str()),
    };
    properties.map(field).collect()
}

/// The answer of somebody who changes nothing: every default.
pub fn filled_in(schema: &Value) -> Map<String, Value> {
    let defaults = fields(schema).into_iter();
    defaults.filter_map(|field| Some((field.key, field.default?))).collect()
}

fn kind(property: &Value) -> Kind {
    let choices = choices(property);
    match property["type"].as_str() {
        Some("array") => Kind::Many(self::choices(&property["items"])),
        _ if !choices.is_empty() => Kind::One(choices),
        Some("boolean") => Kind::Flag,
        Some("integer") => Kind::Integer,
        Some("number") => Kind::Number,
        _ => Kind::Text,
    }
}

/// Choices are written as `enum`, perhaps with `enumNames`, or as titled constants.
fn choices(property: &Value) -> Vec<Choice> {
    let titled = ["oneOf", "anyOf"].iter().filter_map(|key| property[*key].as_array()).flatten();
    let titled = titled.filter_map(|option| {
        let value = option["const"].as_str()?.to_owned();
        let label = option["title"].as_str().unwrap_or(&value).to_owned();
        Some(Choice { value, label })
    });
    let plain = property["enum"].as_array().into_iter().flatten().enumerate();
    let plain = plain.filter_map(|(at, value)| {
        let value = value.as_str()?.to_owned();
        let label = property["enumNames"][at].as_str().unwrap_or(&value).to_owned();
        Some(Choice { value, label })
    });
    titled.chain(plain).collect()
}

impl Field {
    /// What a typed line means: a value, nothing, or why it does not fit.
    pub fn read(&self, line: &str) -> Result<Option<Value>, String> {
        let line = line.trim();
        if line.is_empty() {
            return match (&self.default, self.required) {
                (Some(default), _) => Ok(Some(default.clone())),
                (None, true) => Err("it must be filled in".to_owned()),
                (None, false) => Ok(None),
            };
        }
        let value = match &self.kind {
            Kind::Text => json!(line),
            Kind::Flag => json!(flag(line).ok_or("answer y or n")?),
            Kind::Integer => json!(line.parse::<i64>().map_err(|_| "a whole number is wanted")?),
            Kind::Number => json!(line.parse::<f64>().map_err(|_| "a number is wanted")?),
            Kind::One(choices) => json!(chosen(choices, line)?),
            Kind::Many(choices) => {
                let each = line.split(',').map(|word| chosen(choices, word.trim()));
                json!(each.collect::<Result<Vec<_>, _>>()?)
            }
        };
        Ok(Some(value))
    }
}

/// Yes or no, in the usual spellings.
pub fn flag(line: &str) -> Option<bool> {
    match line.to_ascii_lowercase().as_str() {
        "y" | "yes" | "true" => Some(true),
        "n" | "no" | "false" => Some(false),
        _ => None,
    }
}

/// A choice by its number, its label or its value.
fn chosen(choices: &[Choice], word: &str) -> Result<String, String> {
    let numbered = word.parse().ok().and_then(|number: usize| choices.get(number.checked_sub(1)?));
    let named = || choices.iter().find(|choice| choice.value == word || choice.label == word);
    let found = numbered.or_else(named).map(|choice| choice.value.clone());
    found.ok_or_else(|| format!("choose 1 to {}", choices.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> Value {
        json!({ "type": "object", "required": ["name"], "properties": {
            "name": { "type": "string", "title": "Your name" },
            "age": { "type": "integer", "default": 30 },
            "score": { "type": "number" },
            "ok": { "type": "boolean" },
            "plan": { "type": "string", "enum": ["a", "b"], "enumNames": ["Small", "Large"] },
            "unit": { "type": "string", "oneOf": [{ "const": "m", "title": "Metre" }] },
            "tags": { "type": "array", "items": { "type": "string", "enum": ["x", "y"] } },
        }})
    }

    fn read(key: &str, line: &str) -> Result<Option<Value>, String> {
        fields(&form()).iter().find(|field| field.key == key).unwrap().read(line)
    }

    #[test]
    fn every_kind_of_field_takes_what_fits() {
        assert_eq!(read("name", " Ada "), Ok(Some(json!("Ada"))));
        assert_eq!(read("age", "41"), Ok(Some(json!(41))));
        assert_eq!(read("score", "1.5"), Ok(Some(json!(1.5))));
        assert_eq!(read("ok", "Y"), Ok(Some(json!(true))));
        assert_eq!(read("plan", "2"), Ok(Some(json!("b"))));
        assert_eq!(read("plan", "Small"), Ok(Some(json!("a"))));
        assert_eq!(read("unit", "m"), Ok(Some(json!("m"))));
        assert_eq!(read("tags", "y, 1"), Ok(Some(json!(["y", "x"]))));
    }

    #[test]
    fn what_does_not_fit_says_why() {
        for (key, line) in
            [("name", ""), ("age", "x"), ("score", "x"), ("ok", "7"), ("plan", "3"), ("plan", "0")]
        {
            assert!(read(key, line).is_err(), "{key}: {line}");
        }
    }

    #[test]
    fn an_empty_line_takes_the_default_or_leaves_it_out() {
        assert_eq!(read("age", ""), Ok(Some(json!(30))));
        assert_eq!(read("score", ""), Ok(None));
        assert_eq!(Value::Object(filled_in(&form())), json!({ "age": 30 }));
    }
}
