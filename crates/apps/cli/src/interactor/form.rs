//! Forms that servers request by elicitation: flat objects of strings, numbers, booleans and
//! choices.

use serde_json::{Map, Value, json};

/// One field of a form.
#[derive(Debug, Clone, PartialEq)]
pub struct FormField {
    /// Its key in the answer.
    pub key: String,
    /// Its title, or its key if it has none.
    pub title: String,
    /// Its description; may be empty.
    pub description: String,
    /// The type of its value.
    pub kind: FormFieldKind,
    /// Its default value.
    pub default: Option<Value>,
    /// Whether it needs a value.
    pub required: bool,
}

/// The type of a field's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormFieldKind {
    /// A string.
    Text,
    /// A number.
    Number,
    /// An integer.
    Integer,
    /// A boolean.
    Flag,
    /// One of these choices.
    OneOf(Vec<FormChoice>),
    /// Any number of these choices.
    AnyOf(Vec<FormChoice>),
}

/// One choice of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormChoice {
    /// The value in the answer.
    pub value: String,
    /// The text shown to the user.
    pub label: String,
}

/// Returns the fields of a requested schema, in its order.
pub fn fields(schema: &Value) -> Vec<FormField> {
    let required: Vec<_> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let field = |(key, property): (&String, &Value)| FormField {
        key: key.clone(),
        title: property["title"].as_str().unwrap_or(key).to_owned(),
        description: property["description"].as_str().unwrap_or_default().to_owned(),
        kind: kind(property),
        default: property.get("default").cloned(),
        required: required.contains(&key.as_str()),
    };
    properties.map(field).collect()
}

/// Returns an answer that accepts every default.
pub fn default_answers(schema: &Value) -> Map<String, Value> {
    let defaults = fields(schema).into_iter();
    defaults.filter_map(|field| Some((field.key, field.default?))).collect()
}

fn kind(property: &Value) -> FormFieldKind {
    let choices = choices(property);
    match property["type"].as_str() {
        Some("array") => FormFieldKind::AnyOf(self::choices(&property["items"])),
        _ if !choices.is_empty() => FormFieldKind::OneOf(choices),
        Some("boolean") => FormFieldKind::Flag,
        Some("integer") => FormFieldKind::Integer,
        Some("number") => FormFieldKind::Number,
        _ => FormFieldKind::Text,
    }
}

/// Returns the choices of a property, which are given as `enum`, optionally with `enumNames`, or as
/// titled constants in `oneOf` or `anyOf`.
fn choices(property: &Value) -> Vec<FormChoice> {
    let titled = ["oneOf", "anyOf"].iter().filter_map(|key| property[*key].as_array()).flatten();
    let titled = titled.filter_map(|option| {
        let value = option["const"].as_str()?.to_owned();
        let label = option["title"].as_str().unwrap_or(&value).to_owned();
        Some(FormChoice { value, label })
    });
    let plain = property["enum"].as_array().into_iter().flatten().enumerate();
    let plain = plain.filter_map(|(at, value)| {
        let value = value.as_str()?.to_owned();
        let label = property["enumNames"][at].as_str().unwrap_or(&value).to_owned();
        Some(FormChoice { value, label })
    });
    titled.chain(plain).collect()
}

impl FormField {
    /// Parses a typed line. Returns the value, `None` if the field is left out, or why the line is
    /// not accepted.
    pub fn parse_answer(&self, line: &str) -> Result<Option<Value>, String> {
        let line = line.trim();
        if line.is_empty() {
            return match (&self.default, self.required) {
                (Some(default), _) => Ok(Some(default.clone())),
                (None, true) => Err("a value is required".to_owned()),
                (None, false) => Ok(None),
            };
        }
        let value = match &self.kind {
            FormFieldKind::Text => json!(line),
            FormFieldKind::Flag => json!(parse_yes_no(line).ok_or("answer y or n")?),
            FormFieldKind::Integer => {
                json!(line.parse::<i64>().map_err(|_| "enter an integer")?)
            }
            FormFieldKind::Number => json!(line.parse::<f64>().map_err(|_| "enter a number")?),
            FormFieldKind::OneOf(choices) => json!(find_choice(choices, line)?),
            FormFieldKind::AnyOf(choices) => {
                let each = line.split(',').map(|word| find_choice(choices, word.trim()));
                json!(each.collect::<Result<Vec<_>, _>>()?)
            }
        };
        Ok(Some(value))
    }
}

/// Parses yes or no in the usual spellings.
pub fn parse_yes_no(line: &str) -> Option<bool> {
    match line.to_ascii_lowercase().as_str() {
        "y" | "yes" | "true" => Some(true),
        "n" | "no" | "false" => Some(false),
        _ => None,
    }
}

/// Finds a choice by its number, its value or its label.
fn find_choice(choices: &[FormChoice], word: &str) -> Result<String, String> {
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
        fields(&form()).iter().find(|field| field.key == key).unwrap().parse_answer(line)
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
        assert_eq!(Value::Object(default_answers(&form())), json!({ "age": 30 }));
    }
}
