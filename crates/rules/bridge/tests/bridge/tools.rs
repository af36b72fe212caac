//! Tool definitions, both ways.

use bytes::Bytes;
use insta::assert_snapshot;
use serde_json::{Value, json};
use toolgate_bridge::translate_tool;
use toolgate_wire::Revision;

use crate::{LEGACY, MODERN, OLDEST};

fn shown(definition: &Value, from: Revision, to: Revision) -> Value {
    let raw = Bytes::from(definition.to_string());
    serde_json::from_slice(&translate_tool(&raw, from, to)).unwrap()
}

fn of_tree() -> Value {
    json!({ "name": "t", "inputSchema": { "type": "object" }, "icons": [], "outputSchema": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "array",
        "items": { "anyOf": [{ "$ref": "#/$defs/leaf" }, { "$ref": "#" }, { "$ref": "#there" }] },
        "prefixItems": [{ "$ref": "#/items/anyOf/0" }, { "$ref": "https://example.invalid/x#/y" }],
        "default": { "$ref": "#" },
        "$defs": {
            "leaf": { "properties": { "default": { "$ref": "#/items" }, "$ref": true } },
            "own": { "$id": "https://example.invalid/own", "items": { "$ref": "#" } },
        },
    } })
}

#[test]
fn an_output_schema_of_no_object_is_wrapped_and_its_references_follow() {
    let wrapped = shown(&of_tree(), MODERN, LEGACY);
    assert_snapshot!("wrapped_schema", serde_json::to_string_pretty(&wrapped).unwrap());
}

#[test]
fn every_reference_leads_to_what_it_led_to() {
    let (tree, wrapped) = (of_tree(), shown(&of_tree(), MODERN, LEGACY));
    let (before, after) = (&tree["outputSchema"], &wrapped["outputSchema"]);
    let into = |root: &Value, reference: &Value| {
        let pointer = reference.as_str().unwrap().strip_prefix('#').unwrap().to_owned();
        root.pointer(&pointer).unwrap().clone()
    };
    let inner = &after["properties"]["result"];
    for path in ["/items/anyOf/0/$ref", "/items/anyOf/1/$ref", "/prefixItems/0/$ref"] {
        let (was, is) = (before.pointer(path).unwrap(), inner.pointer(path).unwrap());
        let (was, is) = (into(before, was), into(after, is));
        assert_eq!(was.get("type"), is.get("type"), "{path}");
    }
}

#[test]
fn a_schema_with_a_name_of_its_own_keeps_its_references() {
    let schema = json!({ "$id": "https://example.invalid/s", "items": { "$ref": "#" } });
    let wrapped = shown(&json!({ "name": "t", "outputSchema": schema }), MODERN, LEGACY);
    assert_eq!(wrapped["outputSchema"]["properties"]["result"], schema);
}

#[test]
fn a_revision_without_structured_output_gets_no_schema_it_could_not_read() {
    let dropped = shown(&of_tree(), MODERN, OLDEST);
    assert_eq!(dropped.get("outputSchema"), None);
    assert_eq!(dropped["icons"], json!([]), "unknown members are legal");
}

#[test]
fn a_plain_tool_is_the_same_bytes_for_everybody() {
    let raw = Bytes::from_static(br#"{ "name":"t", "outputSchema":{"type":"object"}, "n":1.50 }"#);
    for from in Revision::ALL {
        for to in Revision::ALL {
            assert_eq!(translate_tool(&raw, from, to).as_ptr(), raw.as_ptr(), "{from} to {to}");
        }
    }
}

#[test]
fn execution_is_a_word_of_its_revision_only() {
    let long = json!({ "name": "t", "execution": { "taskSupport": "required" } });
    assert_eq!(shown(&long, LEGACY, MODERN), json!({ "name": "t" }));
    assert_eq!(shown(&long, LEGACY, LEGACY), long);
    assert_eq!(shown(&long, LEGACY, OLDEST), long);
    assert_eq!(
        shown(&long, MODERN, LEGACY),
        json!({ "name": "t" }),
        "its server has no such tasks"
    );
}

#[test]
fn a_property_that_may_be_anything_is_an_object_to_legacy_clients() {
    let schema = json!({ "type": "object", "properties": { "a": true, "b": false, "c": {} } });
    let plain = json!({ "type": "object",
        "properties": { "a": {}, "b": { "not": {} }, "c": {} } });
    let tool = json!({ "name": "t", "inputSchema": schema, "outputSchema": schema });
    let told = json!({ "name": "t", "inputSchema": plain, "outputSchema": plain });
    assert_eq!(shown(&tool, MODERN, LEGACY), told);
    assert_eq!(shown(&tool, MODERN, OLDEST), told);
    assert_eq!(shown(&tool, MODERN, MODERN), tool);
    let any = json!({ "name": "t", "outputSchema": true });
    let wrapped = &shown(&any, MODERN, LEGACY)["outputSchema"];
    assert_eq!(wrapped["properties"], json!({ "result": {} }));
    let none = json!({ "name": "t", "outputSchema": null });
    assert_eq!(shown(&none, MODERN, LEGACY), json!({ "name": "t" }));
}

#[test]
fn references_in_every_spelling_follow() {
    let schema = json!({ "type": "array", "$id": "#anchor",
        "items": { "$ref": "#/%24defs/a" }, "contains": { "$ref": "#/items" },
        "dependencies": { "$ref": { "$ref": "#/items" } }, "$defs": { "a": {} } });
    let wrapped = shown(&json!({ "name": "t", "outputSchema": schema }), MODERN, LEGACY);
    let wrapped = &wrapped["outputSchema"];
    let inner = &wrapped["properties"]["result"];
    assert_eq!(inner["items"]["$ref"], "#/%24defs/a");
    assert_eq!(wrapped["$defs"], json!({ "a": {} }));
    assert_eq!(inner["contains"]["$ref"], "#/properties/result/items");
    assert_eq!(inner["dependencies"]["$ref"]["$ref"], "#/properties/result/items");
}
