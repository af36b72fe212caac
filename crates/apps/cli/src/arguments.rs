//! Arguments as they are typed: `key=value` words, one JSON object, or `-` for JSON on stdin.
//!
//! A value is what the tool's schema says it is; where the schema says nothing it is a string.
//! Numbers keep the spelling they were typed in.

use std::io::Read;

use serde_json::Value;
use toolgate_wire::string;

use crate::exit::Failure;

/// How deep schemas are followed to find out what a value may be.
const DEPTH: usize = 8;

/// The arguments object, as JSON.
pub fn read(words: &[String], schema: &Value, stdin: impl Read) -> Result<String, Failure> {
    match words {
        [word] if word == "-" => object(text(stdin)?, "on standard input"),
        [word] if word.trim_start().starts_with('{') => object(word.clone(), "as they are typed"),
        words => pairs(words, schema),
    }
}

fn text(mut stdin: impl Read) -> Result<String, Failure> {
    let mut text = String::new();
    let read = stdin.read_to_string(&mut text);
    read.map_err(|error| Failure::failed(format!("read standard input: {error}")))?;
    Ok(text)
}

fn object(text: String, place: &str) -> Result<String, Failure> {
    let wrong = |why: String| {
        Failure::usage(format!("read the arguments {place}: {why}"))
            .hint(r#"a JSON object is wanted, for example {"key":"value"}"#)
    };
    match serde_json::from_str::<Value>(&text) {
        Ok(Value::Object(_)) => Ok(text),
        Ok(_) => Err(wrong("they are no object".to_owned())),
        Err(error) => Err(wrong(format!("they are no JSON: {error}"))),
    }
}

fn pairs(words: &[String], schema: &Value) -> Result<String, Failure> {
    let mut members: Vec<(&str, String)> = Vec::new();
    for word in words {
        let (key, typed) =
            word.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or_else(|| {
                Failure::usage(format!("understand the argument `{word}`"))
                    .hint("write key=value, or one JSON object, or - to read JSON from stdin")
            })?;
        if members.iter().any(|(known, _)| *known == key) {
            return Err(Failure::usage(format!("use the argument `{key}`: it is given twice"))
                .hint("several values are one JSON array: key='[1,2]'"));
        }
        members.push((key, value(key, typed, &schema["properties"][key], schema)?));
    }
    let members = members.iter().map(|(key, value)| format!("{}:{value}", string::encode(key)));
    Ok(format!("{{{}}}", members.collect::<Vec<_>>().join(",")))
}

/// One value, as JSON.
fn value(key: &str, typed: &str, property: &Value, schema: &Value) -> Result<String, Failure> {
    let mut wanted = Vec::new();
    types(property, schema, DEPTH, &mut wanted);
    if wanted.is_empty() || wanted.contains(&"string") {
        return Ok(string::encode(typed));
    }
    let parsed = serde_json::from_str::<Value>(typed);
    let fits = parsed.is_ok_and(|value| wanted.iter().any(|wanted| is(&value, wanted)));
    if fits {
        return Ok(typed.trim().to_owned());
    }
    let wanted = wanted.join(" or ");
    Err(Failure::usage(format!("use `{typed}` as `{key}`: the tool wants {wanted}"))
        .hint("`toolgate discover SERVER --json` shows the tool's schema"))
}

/// The types a schema allows, found through references and alternatives.
fn types<'s>(property: &'s Value, root: &'s Value, depth: usize, found: &mut Vec<&'s str>) {
    if depth == 0 {
        return;
    }
    match &property["type"] {
        Value::String(one) => found.push(one),
        Value::Array(several) => found.extend(several.iter().filter_map(Value::as_str)),
        _ => {}
    }
    if let Some(target) = property["$ref"].as_str().and_then(|target| target.strip_prefix('#')) {
        types(root.pointer(target).unwrap_or(&Value::Null), root, depth - 1, found);
    }
    for alternatives in ["anyOf", "oneOf", "allOf"] {
        for each in property[alternatives].as_array().into_iter().flatten() {
            types(each, root, depth - 1, found);
        }
    }
}

fn is(value: &Value, wanted: &str) -> bool {
    match wanted {
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn typed(words: &[&str]) -> Result<String, Failure> {
        let schema = json!({
            "properties": {
                "text": { "type": "string" },
                "count": { "type": "integer" },
                "ratio": { "type": "number" },
                "deep": { "type": "boolean" },
                "list": { "type": "array" },
                "map": { "$ref": "#/$defs/Map" },
                "limit": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
                "either": { "type": ["number", "string"] },
            },
            "$defs": { "Map": { "type": "object" } },
        });
        let words: Vec<_> = words.iter().map(ToString::to_string).collect();
        read(&words, &schema, &b"{\"from\": \"stdin\"}"[..])
    }

    #[test]
    fn values_are_what_the_schema_says() {
        let words =
            ["text=1", "count=3", "ratio=1.50", "deep=true", "list=[1, 2]", "map={\"a\":1}"];
        assert_eq!(
            typed(&words).unwrap(),
            r#"{"text":"1","count":3,"ratio":1.50,"deep":true,"list":[1, 2],"map":{"a":1}}"#
        );
        assert_eq!(typed(&["limit=null"]).unwrap(), r#"{"limit":null}"#);
        assert_eq!(typed(&["limit=7"]).unwrap(), r#"{"limit":7}"#);
        assert_eq!(typed(&["either=7", "unknown=7"]).unwrap(), r#"{"either":"7","unknown":"7"}"#);
        assert_eq!(typed(&["text=a=b"]).unwrap(), r#"{"text":"a=b"}"#);
        assert_eq!(typed(&[]).unwrap(), "{}");
    }

    #[test]
    fn json_is_taken_as_it_is() {
        assert_eq!(typed(&[r#"{"n": 1.0}"#]).unwrap(), r#"{"n": 1.0}"#);
        assert_eq!(typed(&["-"]).unwrap(), r#"{"from": "stdin"}"#);
    }

    #[test]
    fn what_does_not_fit_is_bad_usage() {
        use crate::exit::Exit;
        for words in [
            &["count=x"][..],
            &["count=1.5"],
            &["deep=yes"],
            &["list={}"],
            &["novalue"],
            &["=1"],
            &["{\"a\":"],
            &["text=a", "text=b"],
        ] {
            assert_eq!(typed(words).unwrap_err().exit, Exit::Usage, "{words:?}");
        }
    }
}
