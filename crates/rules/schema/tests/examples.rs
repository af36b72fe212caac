//! What particular schemas become, and what comes back.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

use serde_json::{Value, json};
use toolgate_schema::{AdaptedSchema, ModelProvider, adapt};

fn losses(adapted: &AdaptedSchema) -> Vec<String> {
    adapted.losses.iter().map(|loss| format!("{}: {}", loss.path, loss.what)).collect()
}

/// The rules of LLxprt, at any depth: no `$schema`, no `additionalProperties`, no default beside
/// `anyOf`.
#[test]
fn gemini_and_vertex_get_what_llxprt_sends() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "base": {
                "anyOf": [{ "type": "string" }, { "type": "number" }, { "type": "null" }],
                "default": "main",
                "description": "where from",
            },
            "deep": { "type": "object", "properties": {
                "x": { "anyOf": [{ "type": "string" }, { "type": "null" }], "default": null } },
                "additionalProperties": false },
        },
        "additionalProperties": false,
        "required": ["base"],
    });
    let gemini = adapt(&schema, ModelProvider::Gemini);
    assert_eq!(
        gemini.schema,
        json!({
            "type": "object",
            "properties": {
                "base": {
                    "anyOf": [{ "type": "string" }, { "type": "number" }],
                    "nullable": true,
                    "description": "where from (default \"main\")",
                },
                "deep": { "type": "object", "properties": {
                    "x": { "type": "string", "nullable": true } } },
            },
            "required": ["base"],
        })
    );
    assert_eq!(
        losses(&gemini),
        ["/properties/deep: `additionalProperties` dropped", ": `additionalProperties` dropped"]
    );
    assert_eq!(
        adapt(&schema, ModelProvider::Vertex).schema["properties"]["base"],
        json!({ "anyOf": [
            { "type": "string", "nullable": true, "description": "where from (default \"main\")" },
            { "type": "number" } ] })
    );
}

#[test]
fn google_gets_references_written_out_and_circles_cut() {
    let schema = json!({
        "type": "object",
        "properties": { "tree": { "$ref": "#/$defs/node" } },
        "$defs": { "node": { "type": "object", "properties": {
            "name": { "type": "string" },
            "children": { "type": "array", "items": { "$ref": "#/$defs/node" } } } } },
    });
    let adapted = adapt(&schema, ModelProvider::Gemini);
    assert_eq!(
        adapted.schema["properties"]["tree"],
        json!({ "type": "object", "properties": {
            "name": { "type": "string" },
            "children": { "type": "array", "items": { "type": "object" } } } })
    );
    let cut = "/$defs/node/properties/children/items: only the type is kept, because the schema is recursive or too large";
    assert_eq!(losses(&adapted), [cut]);
}

#[test]
fn values_that_are_no_texts_are_named_in_words() {
    let schema = json!({ "properties": {
        "level": { "type": "integer", "enum": [0, 2, 4], "description": "how much" },
        "kind": { "const": "a" },
        "mode": { "enum": ["r", null] },
    } });
    assert_eq!(
        adapt(&schema, ModelProvider::Gemini).schema["properties"],
        json!({
            "level": { "type": "integer", "description": "how much (one of 0, 2, 4)" },
            "kind": { "type": "string", "enum": ["a"] },
            "mode": { "type": "string", "enum": ["r"], "nullable": true,
                "description": "one of \"r\", null" },
        })
    );
}

#[test]
fn strict_asks_for_every_member_and_takes_the_absent_ones_out_again() {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "minLength": 1 },
            "mode": { "enum": ["r", "w"], "default": "r" },
            "note": { "anyOf": [{ "type": "string" }, { "type": "null" }], "description": "words" },
            "span": { "type": "object", "properties": { "to": { "type": "integer" } },
                "additionalProperties": false },
        },
        "required": ["path"],
        "additionalProperties": false,
    });
    let adapted = adapt(&schema, ModelProvider::OpenAiStrict);
    assert!(adapted.strict, "{:?}", losses(&adapted));
    assert_eq!(
        adapted.schema,
        json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "mode": { "type": ["string", "null"], "enum": ["r", "w", null],
                    "description": "default \"r\"" },
                "note": { "anyOf": [{ "type": ["string", "null"] },
                    { "type": "boolean", "enum": [false] }],
                    "description": "words (false leaves it out)" },
                "span": { "anyOf": [
                    { "type": "object", "properties": { "to": { "type": ["integer", "null"] } },
                        "required": ["to"], "additionalProperties": false },
                    { "type": "null" } ] },
            },
            "required": ["path", "mode", "note", "span"],
            "additionalProperties": false,
        })
    );
    assert_eq!(losses(&adapted), ["/properties/path: `minLength` dropped"]);
    let cases = [
        (json!({ "path": "a", "mode": null, "note": false, "span": null }), json!({ "path": "a" })),
        (
            json!({ "path": "a", "mode": "w", "note": null, "span": { "to": null } }),
            json!({ "path": "a", "mode": "w", "note": null, "span": {} }),
        ),
        (
            json!({ "path": "a", "mode": null, "note": "b", "span": { "to": 3 } }),
            json!({ "path": "a", "note": "b", "span": { "to": 3 } }),
        ),
    ];
    for (given, meant) in cases {
        assert_eq!(adapted.restore(given), meant);
    }
}

#[test]
fn strict_keeps_recursive_data() {
    let schema = json!({
        "type": "object",
        "properties": { "root": { "$ref": "#/$defs/node" } },
        "required": ["root"],
        "additionalProperties": false,
        "$defs": { "node": { "type": "object", "additionalProperties": false,
            "properties": { "name": { "type": "string" }, "next": { "$ref": "#/$defs/node" } } } },
    });
    let adapted = adapt(&schema, ModelProvider::OpenAiStrict);
    assert!(adapted.strict);
    assert_eq!(adapted.schema["properties"]["root"], json!({ "$ref": "#/$defs/recursive1" }));
    assert_eq!(
        adapted.schema["$defs"]["recursive1"]["properties"]["next"],
        json!({ "anyOf": [{ "$ref": "#/$defs/recursive1" }, { "type": "null" }] })
    );
    let given = json!({ "root": { "name": null, "next": { "name": "b", "next": null } } });
    assert_eq!(adapted.restore(given), json!({ "root": { "next": { "name": "b" } } }));
}

#[test]
fn what_strict_cannot_say_is_sent_without_it_and_says_why() {
    let closed = |inner: Value| {
        json!({ "type": "object", "properties": { "x": inner }, "required": ["x"],
            "additionalProperties": false })
    };
    let cases = [
        (json!({ "type": "object", "properties": {} }), "", "members of any name"),
        (closed(json!({})), "/properties/x", "members of any name"),
        (closed(json!({ "type": "array" })), "/properties/x", "without a schema for its elements"),
        (
            closed(json!({ "type": "object", "additionalProperties": { "type": "string" } })),
            "/properties/x",
            "members of any name",
        ),
        (
            closed(json!({ "anyOf": [
                { "type": "object", "properties": { "a": { "type": "string" } },
                    "additionalProperties": false },
                { "type": "object", "properties": { "a": { "type": "null" } }, "required": ["a"],
                    "additionalProperties": false } ] })),
            "/properties/x",
            "cannot be distinguished",
        ),
    ];
    for (schema, path, why) in cases {
        let adapted = adapt(&schema, ModelProvider::OpenAiStrict);
        assert!(!adapted.strict, "{schema}");
        assert_eq!(adapted.schema, adapt(&schema, ModelProvider::OpenAi).schema);
        let loss = &adapted.losses[0];
        assert_eq!(loss.path, path, "{loss:?}");
        assert!(loss.what.starts_with("cannot be strict: ") && loss.what.contains(why), "{loss:?}");
    }
}

#[test]
fn alternatives_at_the_root_are_joined() {
    let shape = |kind: &str, member: &str| {
        json!({
            "properties": { "kind": { "const": kind }, member: { "type": "number" } },
            "required": ["kind", member],
            "additionalProperties": false,
        })
    };
    let schema = json!({ "oneOf": [shape("circle", "radius"), shape("square", "side")] });
    for provider in [ModelProvider::OpenAi, ModelProvider::Anthropic] {
        assert_eq!(
            adapt(&schema, provider).schema,
            json!({
                "type": "object",
                "properties": {
                    "kind": { "anyOf": [{ "const": "circle" }, { "const": "square" }] },
                    "radius": { "type": "number" },
                    "side": { "type": "number" },
                },
                "required": ["kind"],
                "additionalProperties": false,
            })
        );
    }
}

/// Without `additionalProperties` a square may have a radius that is no number.
#[test]
fn a_member_that_only_some_open_alternatives_describe_is_not_bound() {
    let schema = json!({
        "type": "object",
        "properties": { "id": { "type": "string" } },
        "anyOf": [
            { "properties": { "radius": { "type": "number", "description": "of a circle" } } },
            { "properties": { "side": { "type": "number" } } },
        ],
    });
    let adapted = adapt(&schema, ModelProvider::Anthropic);
    assert_eq!(
        adapted.schema["properties"],
        json!({
            "id": { "type": "string" },
            "radius": { "description": "of a circle" },
            "side": {},
        })
    );
    assert!(
        losses(&adapted).contains(
            &"/anyOf/0/properties/radius: dropped, because it applies only in some alternatives"
                .to_owned()
        )
    );
}

#[test]
fn alternatives_that_only_require_are_dropped_and_told() {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "type": "string" }, "b": { "type": "string" } },
        "anyOf": [{ "required": ["a"] }, { "required": ["b"] }],
    });
    for provider in [ModelProvider::Gemini, ModelProvider::Anthropic, ModelProvider::OpenAi] {
        let adapted = adapt(&schema, provider);
        assert_eq!(adapted.schema["properties"], schema["properties"]);
        assert_eq!(losses(&adapted), [": alternatives dropped"]);
    }
}

#[test]
fn anthropic_gets_names_it_accepts_and_the_tool_gets_its_own_back() {
    let schema = json!({
        "type": "object",
        "properties": {
            "filter[id]": { "type": "string" },
            "filter_id_": { "type": "string" },
            "ids[]": { "type": "array", "items": { "type": "string" }, "description": "which" },
        },
        "required": ["ids[]"],
    });
    let adapted = adapt(&schema, ModelProvider::Anthropic);
    assert_eq!(
        adapted.schema,
        json!({
            "type": "object",
            "required": ["ids__"],
            "properties": {
                "filter_id__2": { "type": "string",
                    "description": "called \"filter[id]\" by the tool" },
                "filter_id_": { "type": "string" },
                "ids__": { "type": "array", "items": { "type": "string" },
                    "description": "which (called \"ids[]\" by the tool)" },
            },
        })
    );
    let given = json!({ "filter_id__2": "1", "filter_id_": "2", "ids__": [], "more": 1 });
    let meant = json!({ "filter[id]": "1", "filter_id_": "2", "ids[]": [], "more": 1 });
    assert_eq!(adapted.restore(given), meant);
}

#[test]
fn old_dialects_are_sent_in_todays_words() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "pair": { "type": "array", "items": [{ "type": "string" }, { "type": "number" }],
                "additionalItems": false },
            "named": { "$ref": "#/definitions/named", "minLength": 99 },
        },
        "dependencies": { "pair": ["named"] },
        "definitions": { "named": { "type": "string" } },
    });
    assert_eq!(
        adapt(&schema, ModelProvider::OpenAi).schema,
        json!({
            "type": "object",
            "properties": {
                "pair": { "type": "array", "prefixItems": [{ "type": "string" },
                    { "type": "number" }], "items": false },
                "named": { "$ref": "#/definitions/named" },
            },
            "dependentRequired": { "pair": ["named"] },
            "definitions": { "named": { "type": "string" } },
        })
    );
}

#[test]
fn a_root_that_is_referred_to_stays_what_it_was_below() {
    let schema = json!({
        "properties": { "name": { "type": "string" }, "inner": { "$ref": "#" } },
        "required": ["name"],
    });
    let adapted = adapt(&schema, ModelProvider::OpenAi);
    assert_eq!(
        adapted.schema,
        json!({
            "type": "object",
            "properties": { "name": { "type": "string" }, "inner": { "$ref": "#/$defs/arguments" } },
            "required": ["name"],
            "$defs": { "arguments": {
                "properties": { "name": { "type": "string" },
                    "inner": { "$ref": "#/$defs/arguments" } },
                "required": ["name"],
            } },
        })
    );
}

/// Whatever is given, something comes out: the schema of a stranger may be anything.
#[test]
fn odd_schemas_do_no_harm() {
    let turning = json!({ "anyOf": [{ "$ref": "#" }, { "allOf": [{ "$ref": "#" }] }] });
    let odd = [
        json!(null),
        json!([]),
        json!({ "type": 7, "properties": [], "required": "a", "anyOf": {}, "enum": 1 }),
        json!({ "$ref": 7, "items": 3, "prefixItems": {}, "additionalProperties": "x" }),
        turning,
    ];
    for schema in &odd {
        for provider in ModelProvider::ALL {
            let _ = adapt(schema, provider);
        }
    }
}
