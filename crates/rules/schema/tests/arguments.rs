//! Whether arguments fit, and what a model is told when they do not.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

use std::time::Instant;

use serde_json::{Value, json};
use toolgate_schema::ArgumentValidator;

fn tool(schema: &Value) -> ArgumentValidator {
    let definition = json!({ "name": "t", "inputSchema": schema }).to_string();
    ArgumentValidator::of(definition.as_bytes()).expect("usable")
}

fn said(schema: &Value, arguments: &Value) -> String {
    let misfit = tool(schema).check(arguments.to_string().as_bytes()).expect_err("a misfit");
    misfit.to_string()
}

#[test]
fn what_fits_passes() {
    let tool = tool(&json!({
        "type": "object",
        "properties": { "path": { "type": "string" }, "count": { "type": "integer" } },
        "required": ["path"],
    }));
    for fits in [r#"{"path":""}"#, r#" {"path":"a","count":1.0} "#, r#"{"path":"a","more":[]}"#] {
        tool.check(fits.as_bytes()).expect(fits);
    }
}

#[test]
fn a_model_is_told_path_expectation_and_value() {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "mode": { "enum": ["r", "w"] },
            "name": { "type": "string" },
        },
        "required": ["name"],
        "additionalProperties": false,
    });
    assert_eq!(
        said(&schema, &json!({ "path": 7, "mode": "x" })),
        "invalid arguments: /path: expected a string, got 7; /mode: expected one of \"r\", \
         \"w\", got \"x\"; missing: /name (a string)"
    );
    assert_eq!(
        said(&schema, &json!({ "name": "a", "pfad": "b" })),
        "invalid arguments: /pfad: expected no such member (known: path, mode, name), got \
         \"b\""
    );
}

#[test]
fn every_kind_of_fault_is_in_words() {
    let cases = [
        (json!({ "minimum": 3 }), json!(2), "a number of at least 3"),
        (json!({ "exclusiveMaximum": 3 }), json!(3), "a number below 3"),
        (json!({ "multipleOf": 2 }), json!(3), "a multiple of 2"),
        (json!({ "minLength": 1 }), json!(""), "a string of at least 1 character"),
        (json!({ "maxLength": 2 }), json!("abc"), "a string of at most 2 characters"),
        (json!({ "pattern": "^a" }), json!("b"), "a string that matches ^a"),
        (json!({ "minItems": 2 }), json!([1]), "at least 2 items"),
        (json!({ "uniqueItems": true }), json!([1, 1]), "items that all differ"),
        (json!({ "type": ["string", "null"] }), json!(1), "null or a string"),
        (json!({ "const": "a" }), json!("b"), "\"a\""),
        (json!({ "not": { "type": "null" } }), json!(null), "anything but {\"type\":\"null\"}"),
        (json!(false), json!(1), "no value"),
        (json!({ "minProperties": 1 }), json!({}), "at least 1 member"),
        (
            json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] }),
            json!([]),
            "a string or an integer",
        ),
        (
            json!({ "propertyNames": { "maxLength": 1 } }),
            json!({ "ab": 1 }),
            "member names that are a string of at most 1 character",
        ),
    ];
    for (schema, value, expected) in cases {
        let got = if value == json!({ "ab": 1 }) { json!("ab") } else { value.clone() };
        assert_eq!(
            said(&json!({ "properties": { "x": schema } }), &json!({ "x": value })),
            format!("invalid arguments: /x: expected {expected}, got {got}")
        );
    }
}

#[test]
fn of_alternatives_the_one_that_was_meant_is_explained() {
    let shape = |kind: &str, member: &str| {
        json!({
            "type": "object",
            "properties": { "kind": { "const": kind }, member: { "type": "number" } },
            "required": ["kind", member],
        })
    };
    let schema = json!({ "properties": { "shape": {
        "oneOf": [{ "type": "null" }, shape("circle", "radius"), shape("square", "side")] } } });
    assert_eq!(
        said(&schema, &json!({ "shape": { "kind": "square", "side": "2" } })),
        "invalid arguments: /shape/side: expected a number, got \"2\""
    );
    assert_eq!(
        said(&schema, &json!({ "shape": { "kind": "circle" } })),
        "invalid arguments: missing: /shape/radius (a number)"
    );
    assert_eq!(
        said(&schema, &json!({ "shape": 1 })),
        "invalid arguments: /shape: expected null or an object, got 1"
    );
}

#[test]
fn a_fault_behind_a_reference_has_its_place_and_its_word() {
    let schema = json!({
        "properties": { "a": { "type": "array", "items": { "$ref": "#/$defs/x~y" } } },
        "$defs": { "x~y": { "type": "object", "properties": { "b": { "type": "boolean" } },
            "required": ["b"], "additionalProperties": false } },
    });
    let schema: Value =
        serde_json::from_str(&schema.to_string().replace("defs/x~y\"", "defs/x~0y\"")).unwrap();
    assert_eq!(
        said(&schema, &json!({ "a": [{ "b": true }, { "c/d": 1 }] })),
        "invalid arguments: /a/1/c~1d: expected no such member (known: b), got 1; missing: \
         /a/1/b (true or false)"
    );
}

#[test]
fn long_values_are_cut_and_many_faults_counted() {
    let schema = json!({ "additionalProperties": { "type": "null" } });
    let many: serde_json::Map<String, Value> =
        (0..30).map(|n| (format!("m{n}"), json!("ü".repeat(500)))).collect();
    let said = said(&schema, &Value::Object(many));
    assert!(said.len() < 600, "{said}");
    assert!(said.ends_with("; and 15 more"), "{said}");
}

#[test]
fn what_is_no_object_does_not_fit_even_where_no_type_is_said() {
    let tool = tool(&json!({}));
    for (raw, got) in [("[]", "[]"), ("null", "null"), ("7", "7"), ("{", "invalid JSON")] {
        let misfit = tool.check(raw.as_bytes()).expect_err(raw);
        assert_eq!(misfit.faults.len(), 1);
        assert!(misfit.faults[0].got.starts_with(got), "{misfit}");
    }
}

#[test]
fn formats_and_contents_are_left_to_the_server() {
    for draft in
        ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"]
    {
        let tool = tool(&json!({ "$schema": draft, "properties": {
            "a": { "format": "email" }, "b": { "contentEncoding": "base64" },
            "c": { "contentMediaType": "application/json" } } }));
        tool.check(br#"{"a":"none","b":"?","c":"{"}"#).expect("fits");
    }
}

/// Two alternatives that both descend double the work at each level: a hundred levels would never
/// end. Such arguments pass; the server whose schema it is will see them.
#[test]
fn a_recursive_schema_cannot_be_made_to_take_for_ever() {
    let down = json!({ "properties": { "a": { "$ref": "#" } }, "required": ["x"] });
    let tool = tool(&json!({ "type": "object", "anyOf": [down, down, { "maxProperties": 0 }] }));
    let nested = |levels: usize| "{\"a\":".repeat(levels) + "{}" + &"}".repeat(levels);
    let start = Instant::now();
    tool.check(nested(3).as_bytes()).expect_err("no x");
    for levels in [10, 20, 60, 120] {
        let _ = tool.check(nested(levels).as_bytes());
    }
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    tool.check(nested(120).as_bytes()).expect("not looked at");
}

/// Every level of the value goes through fifty schemas; a thread of a runtime has two megabytes.
#[test]
fn a_deep_value_does_not_exhaust_the_stack() {
    let mut chain = json!({ "properties": { "a": { "$ref": "#" } } });
    for _ in 0..28 {
        chain = json!({ "allOf": [chain] });
    }
    let tool = tool(&chain);
    for levels in [60, 126] {
        let nested = "{\"a\":".repeat(levels) + "{}" + &"}".repeat(levels);
        tool.check(nested.as_bytes()).expect("fits");
    }
}
