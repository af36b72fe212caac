//! Which definitions can be used, and what is said of those that cannot.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

use serde_json::{Value, json};
use toolgate_schema::{ArgumentValidator, check_definition};

fn definition(schema: &Value) -> Vec<u8> {
    json!({ "name": "t", "inputSchema": schema }).to_string().into_bytes()
}

fn refused(schema: &Value) -> String {
    check_definition(&definition(schema)).expect_err(&schema.to_string()).to_string()
}

fn accepted(schema: &Value) {
    if let Err(unusable) = check_definition(&definition(schema)) {
        panic!("{schema}: {unusable}");
    }
}

#[test]
fn ordinary_schemas_of_every_dialect_are_usable() {
    let drafts = [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-07/schema#",
        "http://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
        "https://json-schema.org/draft/2020-12/schema#",
    ];
    for draft in drafts {
        accepted(&json!({
            "$schema": draft,
            "type": "object",
            "properties": { "a": { "$ref": "#/definitions/a" } },
            "definitions": { "a": { "type": "string", "pattern": "^\\d+$" } },
        }));
    }
    accepted(&json!({}));
    accepted(&json!({ "type": "object" }));
    accepted(&json!({ "properties": { "type": { "type": "string" } } }));
    accepted(&json!({ "type": ["object", "null"] }));
    accepted(&json!({ "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] }));
}

#[test]
fn words_of_old_dialects_are_understood_without_their_name() {
    let tuple = json!({ "type": "array", "items": [{ "type": "string" }] });
    let schema = json!({ "type": "object", "properties": { "a": tuple } });
    let arguments = ArgumentValidator::of(&definition(&schema)).expect("usable");
    arguments.check(br#"{"a":["b",7]}"#).expect("fits");
    arguments.check(br#"{"a":[7]}"#).expect_err("no text");
    let bounded = json!({ "properties": { "a": { "minimum": 1, "exclusiveMinimum": true } } });
    let arguments = ArgumentValidator::of(&definition(&bounded)).expect("usable");
    arguments.check(br#"{"a":1}"#).expect_err("not above 1");
    let mut named = schema;
    named["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    let said = refused(&named);
    assert!(said.starts_with("/inputSchema/properties/a/items: "), "{said}");
}

#[test]
fn what_is_no_definition_is_refused() {
    let cases: [(&[u8], &str); 5] = [
        (b"{", "the definition is not valid JSON"),
        (b"[]", "the definition is not an object"),
        (b"{}", "`inputSchema` is missing"),
        (br#"{"inputSchema":null}"#, "/inputSchema: the input schema is not an object"),
        (br#"{"inputSchema":true}"#, "/inputSchema: the input schema is not an object"),
    ];
    for (definition, said) in cases {
        let unusable = check_definition(definition).expect_err(said).to_string();
        assert!(unusable.starts_with(said), "{unusable}");
    }
}

#[test]
fn faults_say_where_they_are() {
    let cases = [
        (json!({ "type": "string" }), "/inputSchema/type: "),
        (json!({ "type": "objekt" }), "/inputSchema/type: "),
        (json!({ "properties": [] }), "/inputSchema/properties: expected an object, got []"),
        (
            json!({ "properties": { "a": { "type": "strin" } } }),
            "/inputSchema/properties/a/type: expected ",
        ),
        (json!({ "properties": { "a": { "minimum": "1" } } }), "/inputSchema/properties/a/minimum"),
        (json!({ "$schema": "https://example.com/mine" }), "/inputSchema/$schema: unknown dialect"),
        (json!({ "properties": { "a": { "pattern": "(" } } }), "/inputSchema/properties/a/pattern"),
    ];
    for (schema, said) in cases {
        let unusable = refused(&schema);
        assert!(unusable.starts_with(said), "{unusable}");
    }
}

#[test]
fn a_reference_leads_to_a_place_in_the_schema() {
    for reference in
        ["#", "#/$defs/a", "#named", "https://example.com/s", "https://example.com/s#named"]
    {
        accepted(&json!({
            "$id": "https://example.com/s",
            "type": "object",
            "properties": { "x": { "$ref": reference } },
            "$defs": { "a": { "$anchor": "named", "type": "object" } },
        }));
    }
    for reference in
        ["https://example.com/s", "file:///etc/passwd", "other.json", "//example.com", "s#/a"]
    {
        let said = refused(&json!({ "properties": { "x": { "$ref": reference } } }));
        assert!(
            said.contains("/properties/x/$ref: ") && said.contains("outside the schema"),
            "{said}"
        );
    }
    for reference in ["#/$defs/b", "#nowhere", "#/properties/x/%zz"] {
        let said = refused(&json!({ "properties": { "x": { "$ref": reference } } }));
        assert!(said.contains("/properties/x/$ref: ") && said.contains("does not exist"), "{said}");
    }
}

#[test]
fn a_name_that_looks_like_a_keyword_is_a_name() {
    accepted(&json!({
        "type": "object",
        "properties": {
            "$ref": { "type": "string" },
            "items": { "default": { "$ref": "https://example.com" } },
            "properties": { "enum": [{ "$ref": "https://example.com" }] },
        },
    }));
}

#[test]
fn circles_without_an_end_are_refused_and_recursive_data_is_not() {
    let turning = [
        json!({ "$ref": "#" }),
        json!({ "anyOf": [{ "type": "object" }, { "$ref": "#" }] }),
        json!({ "$ref": "#/$defs/a", "$defs": {
            "a": { "allOf": [{ "$ref": "#/$defs/b" }] }, "b": { "not": { "$ref": "#/$defs/a" } } } }),
    ];
    for schema in turning {
        let said = refused(&schema);
        assert!(said.contains("leads back to itself"), "{said}");
    }
    accepted(&json!({
        "type": "object",
        "properties": { "children": { "type": "array", "items": { "$ref": "#" } } },
    }));
}

#[test]
fn what_multiplies_is_refused_before_it_is_compiled() {
    let mut defs = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        defs.insert(format!("d{level}"), json!({ "allOf": [next, next] }));
    }
    defs.insert("d40".to_owned(), json!({ "type": "object" }));
    let said = refused(&json!({ "$ref": "#/$defs/d0", "$defs": defs }));
    assert!(said.contains("schemas for one value"), "{said}");
}

/// The same shape below members: each member has a value of its own, so it is no great work.
#[test]
fn what_spreads_over_members_is_usable() {
    let mut defs = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        defs.insert(format!("d{level}"), json!({ "properties": { "a": next, "b": next } }));
    }
    defs.insert("d40".to_owned(), json!({ "type": "object" }));
    let schema = json!({ "$ref": "#/$defs/d0", "$defs": defs });
    let arguments = ArgumentValidator::of(&definition(&schema)).expect("usable");
    arguments.check(br#"{"a":{"b":{"a":{}}}}"#).expect("fits");
}

#[test]
fn size_depth_and_numbers_are_bounded() {
    let long = json!({ "description": "x".repeat(600 * 1024) });
    assert!(refused(&long).contains("bytes"));
    let mut deep = json!({});
    for _ in 0..40 {
        deep = json!({ "properties": { "a": deep } });
    }
    assert!(refused(&deep).contains("levels"));
    let many: Vec<Value> = (0..1_001).map(|n| json!({ "pattern": format!("^{n}$") })).collect();
    assert!(refused(&json!({ "properties": { "a": { "anyOf": many } } })).contains("patterns"));
    let many: serde_json::Map<String, Value> =
        (0..2_002).map(|n| (format!("p{n}"), json!({ "$ref": "#/$defs/a" }))).collect();
    let said = refused(&json!({ "properties": many, "$defs": { "a": {} } }));
    assert!(said.contains("references"), "{said}");
    assert!(refused(&json!({ "enum": vec![0; 60_000] })).contains("values"));
}

#[test]
fn an_output_schema_is_held_to_the_same() {
    let define = |schema: Value| {
        json!({ "inputSchema": {}, "outputSchema": schema }).to_string().into_bytes()
    };
    check_definition(&define(json!({ "type": "object" }))).expect("usable");
    check_definition(&define(json!({ "type": "array" }))).expect("usable");
    let said = check_definition(&define(json!({ "type": 7 }))).expect_err("unusable").to_string();
    assert!(said.starts_with("/outputSchema/type: "), "{said}");
    let said = check_definition(&define(json!({ "$ref": "a" }))).expect_err("unusable").to_string();
    assert!(said.starts_with("/outputSchema/$ref: "), "{said}");
}
