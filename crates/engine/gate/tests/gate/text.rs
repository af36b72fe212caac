//! What nobody would see does not reach a model: in definitions, results, resources, prompts,
//! errors and instructions. What the server is sent back is its own.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_model::{CapabilityKind, PrefixMode, is_invisible};
use toolgate_wire::{Frame, MessageLimits};

use crate::fleet::{Nobody, Played, caller, gate, listed, pass};

const HIDDEN: &str = "vis\u{200b}ible\u{e0041}\u{202e}\u{1b}[31m text\u{feff}\u{2066}\u{9b}0m\u{7}";
const SEEN: &str = "visible text";

/// A server whose every text hides something.
fn furtive() -> Played {
    let capabilities = json!({ "tools": {}, "resources": {}, "prompts": {} });
    let schema = json!({ "type": "object", "properties": { "a": {
        "type": "string", "description": HIDDEN, "title": HIDDEN, "enum": [HIDDEN, "x"],
        "default": HIDDEN, "pattern": "[^\u{0}-\u{1f}]" } } });
    let tool = json!({ "name": "t", "title": HIDDEN, "description": HIDDEN, "inputSchema": schema,
        "annotations": { "title": HIDDEN }, "unknown": [1.50, HIDDEN] });
    Played::new(capabilities, move |method, params| match method {
        "tools/list" => json!({ "tools": [tool] }),
        "resources/list" => json!({ "resources": [{ "uri": "x://r", "name": HIDDEN }] }),
        "resources/templates/list" => json!({ "resourceTemplates": [] }),
        "prompts/list" => json!({ "prompts": [{ "name": "p", "description": HIDDEN }] }),
        "resources/read" => json!({ "contents": [{ "uri": "x://r", "text": HIDDEN }] }),
        "prompts/get" => json!({ "messages": [{ "role": "user",
            "content": { "type": "text", "text": HIDDEN } }] }),
        _ => match params["arguments"]["fail"].as_bool() {
            Some(true) => json!({ "error": { "code": -1, "message": HIDDEN } }),
            _ => json!({ "content": [{ "type": "text", "text": HIDDEN }], "structuredContent": {
                "sent": params["arguments"].clone(), "data": HIDDEN, "family": "👩\u{200d}👧" } }),
        },
    })
}

fn hides(value: &Value) -> bool {
    match value {
        Value::String(text) => text.chars().any(|c| is_invisible(c) && c != '\u{200d}'),
        Value::Array(items) => items.iter().any(hides),
        Value::Object(members) => members.values().any(hides),
        _ => false,
    }
}

#[tokio::test]
async fn definitions_are_listed_without_anything_hidden() {
    let server = furtive();
    let (gate, _fleet) = gate(&[("s", &server)], PrefixMode::default()).await;
    for kind in [CapabilityKind::Tool, CapabilityKind::Resource, CapabilityKind::Prompt] {
        let definitions = listed(&gate, kind, &caller()).await;
        assert_eq!(definitions.len(), 1);
        assert!(!hides(&definitions[0]), "{}", definitions[0]);
    }
    let tool = &listed(&gate, CapabilityKind::Tool, &caller()).await[0];
    assert_eq!(tool["description"], SEEN);
    assert_eq!(tool["inputSchema"]["properties"]["a"]["enum"], json!([SEEN, "x"]));
    // An expression means the same, spelled visibly.
    assert_eq!(tool["inputSchema"]["properties"]["a"]["pattern"], r"[^\u0000-\u001f]");
}

#[tokio::test]
async fn answers_are_given_without_anything_hidden() {
    let server = furtive();
    let (gate, _fleet) = gate(&[("s", &server)], PrefixMode::default()).await;
    let me = caller();
    let ask = async |method: &str, params: Value| pass(&gate, &me, method, params).await.unwrap();
    let read = ask("resources/read", json!({ "uri": "x://r" })).await;
    assert_eq!(read["contents"][0]["text"], SEEN);
    let prompt = ask("prompts/get", json!({ "name": "s__p" })).await;
    assert_eq!(prompt["messages"][0]["content"]["text"], SEEN);
    let failed = ask("tools/call", json!({ "name": "s__t", "arguments": { "fail": true } })).await;
    assert_eq!(failed["message"], SEEN);
    let called = ask("tools/call", json!({ "name": "s__t", "arguments": { "b": HIDDEN } })).await;
    assert_eq!(called["content"][0]["text"], SEEN);
    assert_eq!(called["structuredContent"]["data"], SEEN);
    assert_eq!(
        called["structuredContent"]["family"], "👩\u{200d}👧",
        "what belongs together stays"
    );
    // What a caller says is his affair: the server got it as it was.
    let seen = server.seen.lock().unwrap();
    let call = seen.iter().rfind(|message| message["method"] == "tools/call").unwrap();
    assert_eq!(call["params"]["arguments"]["b"], HIDDEN);
}

#[tokio::test]
async fn a_large_result_hides_nothing_either() {
    let long = "0123456789 zażółć ".repeat(200_000);
    let server = Played::new(json!({ "tools": {} }), move |method, params| match method {
        "tools/list" => json!({ "tools": [{ "name": "t", "inputSchema": { "type": "object" } }] }),
        _ => {
            let hidden = if params["arguments"]["hide"] == true { "\u{200b}\u{1b}[1m" } else { "" };
            json!({ "content": [{ "type": "text", "text": format!("{long}{hidden}{long}") }] })
        }
    });
    let (gate, _fleet) = gate(&[("s", &server)], PrefixMode::default()).await;
    let me = caller();
    let mut lengths = Vec::new();
    for hide in [false, true] {
        let params = json!({ "name": "s__t", "arguments": { "hide": hide } });
        let request =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let frame = Frame::parse(request.to_string().into(), &MessageLimits::default()).unwrap();
        let answer = gate.pass(&frame, &me, Arc::new(Nobody::of(me.id))).await.unwrap();
        assert!(answer.detached_values().is_some(), "it lies in a file, before and after");
        let whole = toolgate_transport::spool::load_frame(answer).await.unwrap();
        let result: Value = serde_json::from_slice(whole.result().unwrap()).unwrap();
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(!text.chars().any(is_invisible));
        lengths.push(text.len());
    }
    assert_eq!(lengths[0], lengths[1]);
}
