//! Tool arguments on the command line: `key=value` words, one JSON object, or `-` for JSON on
//! stdin.
//!
//! The tool's schema decides the type of a value; without a type it is a string. Numbers keep the
//! spelling in which they were typed.

use std::io::Read;

use serde_json::Value;
use toolgate_wire::string;

use crate::exit::{CliError, ErrorCode, OrFail as _, Result, cli_error};
use crate::suggest::did_you_mean;

/// How many references and alternatives are followed to find the type of a value.
const MAX_SCHEMA_DEPTH: usize = 8;

/// Returns the arguments object as JSON.
pub fn read(words: &[String], schema: &Value, stdin: impl Read) -> Result<String> {
    match words {
        [word] if word == "-" => {
            check_object(read_stdin(stdin)?, "the arguments on standard input")
        }
        [word] if word.trim_start().starts_with('{') => check_object(word.clone(), "the arguments"),
        words => parse_pairs(words, schema),
    }
}

/// Reads all of standard input.
pub fn read_stdin(mut stdin: impl Read) -> Result<String> {
    let mut text = String::new();
    let read = stdin.read_to_string(&mut text);
    read.or_fail(ErrorCode::CliRead, "cannot read standard input")?;
    Ok(text)
}

fn check_object(text: String, what: &str) -> Result<String> {
    let invalid = |why: String| {
        cli_error!(CliArguments, "{what} {why}")
            .hint(r#"write a JSON object, for example {"key":"value"}"#)
    };
    match serde_json::from_str::<Value>(&text) {
        Ok(Value::Object(_)) => Ok(text),
        Ok(_) => Err(invalid("are not a JSON object".to_owned())),
        Err(error) => Err(invalid(format!("are not valid JSON: {error}"))),
    }
}

fn parse_pairs(words: &[String], schema: &Value) -> Result<String> {
    let mut members: Vec<(&str, String)> = Vec::new();
    for word in words {
        let (key, typed) =
            word.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or_else(|| {
                cli_error!(CliArguments, "invalid argument `{word}`")
                    .hint("write key=value, or one JSON object, or - to read JSON from stdin")
            })?;
        if members.iter().any(|(known, _)| *known == key) {
            return Err(cli_error!(CliArguments, "argument `{key}` is given twice")
                .hint("write several values as a JSON array: key='[1,2]'"));
        }
        let property = &schema["properties"][key];
        if property.is_null() && schema["additionalProperties"] == false {
            return Err(unknown_argument_error(key, schema));
        }
        members.push((key, parse_value(key, typed, property, schema)?));
    }
    let members = members.iter().map(|(key, value)| format!("{}:{value}", string::encode(key)));
    Ok(format!("{{{}}}", members.collect::<Vec<_>>().join(",")))
}

fn unknown_argument_error(key: &str, schema: &Value) -> CliError {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let known: Vec<_> = properties.map(|(name, _)| name.as_str()).collect();
    let otherwise = format!("its arguments are {}", known.join(", "));
    cli_error!(CallArguments, "the tool has no argument `{key}`")
        .hint(did_you_mean(key, &known, otherwise))
}

/// Returns one value as JSON.
fn parse_value(key: &str, typed: &str, property: &Value, schema: &Value) -> Result<String> {
    let mut types = Vec::new();
    collect_types(property, schema, MAX_SCHEMA_DEPTH, &mut types);
    if types.is_empty() || types.contains(&"string") {
        return Ok(string::encode(typed));
    }
    let parsed = serde_json::from_str::<Value>(typed);
    let fits = parsed.is_ok_and(|value| types.iter().any(|wanted| has_type(&value, wanted)));
    if fits {
        return Ok(typed.trim().to_owned());
    }
    let types = types.join(" or ");
    Err(cli_error!(CallArguments, "`{key}` must be of type {types}, got `{typed}`")
        .hint("run `toolgate discover SERVER --json` to see the tool's schema"))
}

/// Collects the types that a schema allows, following references and alternatives.
fn collect_types<'s>(property: &'s Value, root: &'s Value, depth: usize, found: &mut Vec<&'s str>) {
    if depth == 0 {
        return;
    }
    match &property["type"] {
        Value::String(one) => found.push(one),
        Value::Array(several) => found.extend(several.iter().filter_map(Value::as_str)),
        _ => {}
    }
    if let Some(target) = property["$ref"].as_str().and_then(|target| target.strip_prefix('#')) {
        collect_types(root.pointer(target).unwrap_or(&Value::Null), root, depth - 1, found);
    }
    for alternatives in ["anyOf", "oneOf", "allOf"] {
        for each in property[alternatives].as_array().into_iter().flatten() {
            collect_types(each, root, depth - 1, found);
        }
    }
}

fn has_type(value: &Value, wanted: &str) -> bool {
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

    fn typed(words: &[&str]) -> Result<String> {
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
            assert_eq!(typed(words).unwrap_err().exit(), Exit::Usage, "{words:?}");
        }
    }
}
