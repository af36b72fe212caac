//! Modes with invalid or expensive schemas (T31).
//!
//! The ordinary tools are listed too and must stay usable.

use serde_json::{Value, json};

use super::action::{HostileActionSequence, single_message};
use super::context::HookContext;
use super::ordinary::tools;

pub(super) fn bad(scene: &HookContext) -> HostileActionSequence {
    let schemas = [
        ("no_type", json!({})),
        ("array_type", json!({ "type": "array" })),
        ("a_string", json!("object")),
        ("a_null", Value::Null),
        ("unknown_type", json!({ "type": "object", "properties": { "a": { "type": "tuple" } } })),
        ("number_for_list", json!({ "type": "object", "required": 7 })),
        ("dangling_ref", json!({ "type": "object", "$ref": "#/$defs/nowhere" })),
        ("own_ref", json!({ "type": "object", "allOf": [{ "$ref": "#" }] })),
        ("wrong_draft", json!({ "$schema": "urn:no-such-draft", "type": "object" })),
    ];
    list(scene, schemas)
}

pub(super) fn redos(scene: &HookContext) -> HostileActionSequence {
    let pattern = json!({ "type": "string", "pattern": "^(([a-z])+.)+[A-Z]([a-z])+$" });
    list(scene, [("redos", json!({ "type": "object", "properties": { "text": pattern } }))])
}

pub(super) fn remote_reference(scene: &HookContext) -> HostileActionSequence {
    // Normally no process listens on the discard port; a test can listen there to detect a fetch.
    let remote = json!({ "$ref": "http://127.0.0.1:9/schema.json" });
    list(scene, [("refssrf", json!({ "type": "object", "properties": { "text": remote } }))])
}

fn list<const N: usize>(scene: &HookContext, schemas: [(&str, Value); N]) -> HostileActionSequence {
    let bad = schemas.map(|(name, schema)| {
        json!({ "name": name, "description": "Has an odd schema.", "inputSchema": schema })
    });
    let no_schema = json!({ "name": "no_schema", "description": "Has no schema." });
    let all: Vec<Value> = tools().into_iter().chain(bad).chain([no_schema]).collect();
    single_message(scene.tools(&all))
}
