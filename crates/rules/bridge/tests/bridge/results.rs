//! Results, both ways.

use insta::assert_snapshot;
use serde_json::json;
use toolgate_bridge::{mark_private, translate_result};
use toolgate_wire::{Frame, MessageLimits};

use crate::{LEGACY, MODERN, OLDEST, passage, pretty, response};

const INFO: &str = "io.modelcontextprotocol/serverInfo";

#[test]
fn a_modern_result_loses_what_only_modern_callers_read() {
    let read = response(&json!({
        "resultType": "complete", "ttlMs": 5, "cacheScope": "public", "odd": 1.50,
        "contents": [{ "uri": "x://1", "text": "t" }],
        "_meta": { INFO: { "name": "s", "version": "1" }, "own/key": true },
    }));
    let shown = translate_result(read, &passage("resources/read", MODERN, LEGACY), None);
    assert_snapshot!("modern_read_for_legacy", pretty(&shown));
}

#[test]
fn a_meta_that_said_nothing_else_goes_with_it() {
    let said = response(&json!({ "_meta": { INFO: {} }, "messages": [] }));
    let shown = translate_result(said, &passage("prompts/get", MODERN, LEGACY), None);
    assert_eq!(shown.result().unwrap(), br#"{"messages":[]}"#);
}

#[test]
fn an_extensions_result_type_stays() {
    let task = response(&json!({ "resultType": "x-later", "ttlMs": 60000 }));
    let shown = translate_result(task.clone(), &passage("tools/call", MODERN, LEGACY), None);
    assert_eq!(shown.bytes(), task.bytes());
}

#[test]
fn a_legacy_result_gains_what_modern_callers_need() {
    let read = response(&json!({ "contents": [], "_meta": { "own/key": 1 } }));
    let shown = translate_result(read, &passage("resources/read", LEGACY, MODERN), None);
    assert_snapshot!("legacy_read_for_modern", pretty(&shown));
    let called = response(&json!({ "content": [{ "type": "later", "x": 1 }] }));
    let shown = translate_result(called, &passage("tools/call", OLDEST, MODERN), None);
    assert_snapshot!("legacy_call_for_modern", pretty(&shown));
    let skills = response(&json!({ "skills": [] }));
    let shown = translate_result(skills, &passage("skills/list", LEGACY, MODERN), None);
    assert_snapshot!("legacy_skills_for_modern", pretty(&shown));
}

#[test]
fn a_server_that_says_more_than_its_revision_is_not_contradicted() {
    let read = json!({ "resultType": "task", "cacheScope": "public", "ttlMs": 9,
        "_meta": { INFO: { "name": "s", "version": "1" } } });
    let before = response(&read);
    let shown = translate_result(before.clone(), &passage("resources/read", LEGACY, MODERN), None);
    assert_eq!(shown.bytes(), before.bytes());
}

#[test]
fn a_legacy_result_cannot_ask() {
    let asks = json!({ "resultType": "input_required", "requestState": "s", "content": [],
        "inputRequests": { "k": { "method": "elicitation/create", "params": {} } } });
    for from in [OLDEST, LEGACY] {
        let shown = translate_result(response(&asks), &passage("tools/call", from, MODERN), None);
        assert_eq!(shown.result_type().as_deref(), Some("complete"));
    }
}

#[test]
fn skills_are_kept_like_resources() {
    for method in ["skills/get", "resources/directory/read"] {
        let shown = translate_result(response(&json!({})), &passage(method, LEGACY, MODERN), None);
        let shown: serde_json::Value = serde_json::from_slice(shown.result().unwrap()).unwrap();
        assert_eq!((&shown["ttlMs"], &shown["cacheScope"]), (&json!(0), &json!("private")));
    }
}

#[test]
fn what_an_extension_calls_content_is_its_own() {
    let own = json!({ "content": [{ "type": "audio" }], "messages": [{ "content": { "type": "audio" } }] });
    let before = response(&own);
    let shown = translate_result(before.clone(), &passage("x/y", LEGACY, OLDEST), None);
    assert_eq!(shown.bytes(), before.bytes());
}

#[test]
fn one_callers_own_result_is_private_whatever_the_server_says() {
    let read = response(&json!({ "cacheScope": "public", "ttlMs": 9, "contents": [] }));
    let shown = mark_private(read.clone(), &passage("resources/read", MODERN, MODERN));
    assert_eq!(shown.result().unwrap(), br#"{"cacheScope":"private","ttlMs":9,"contents":[]}"#);
    let silent = response(&json!({ "contents": [] }));
    let shown = mark_private(silent, &passage("resources/read", MODERN, MODERN));
    assert_eq!(shown.result().unwrap(), br#"{"cacheScope":"private","contents":[]}"#);
    let called = mark_private(read.clone(), &passage("tools/call", MODERN, MODERN));
    assert_eq!(called.bytes(), read.bytes(), "a call is cached by nobody");
}

#[test]
fn output_that_is_no_object_is_wrapped_with_its_schema() {
    let call = passage("tools/call", MODERN, LEGACY);
    let output = |value| response(&json!({ "content": [], "structuredContent": value }));
    let of_anything = json!({ "name": "t", "outputSchema": { "oneOf": [] } }).to_string();
    let of_object = json!({ "name": "t", "outputSchema": { "type": "object" } }).to_string();
    let shown = |value, tool: Option<&String>| {
        let shown = translate_result(output(value), &call, tool.map(|tool| tool.as_bytes()));
        let shown: serde_json::Value = serde_json::from_slice(shown.result().unwrap()).unwrap();
        shown["structuredContent"].clone()
    };
    assert_eq!(shown(json!([1, 2]), Some(&of_anything)), json!({ "result": [1, 2] }));
    assert_eq!(shown(json!({ "a": 1 }), Some(&of_anything)), json!({ "result": { "a": 1 } }));
    assert_eq!(shown(json!({ "a": 1 }), Some(&of_object)), json!({ "a": 1 }));
    assert_eq!(shown(json!(null), None), json!({ "result": null }));
    assert_eq!(shown(json!({ "a": 1 }), None), json!({ "a": 1 }));
}

#[test]
fn content_an_old_revision_lacks_is_said_in_words() {
    let blocks = json!([
        { "type": "audio", "data": "AAAAAAA=", "mimeType": "audio/wav",
            "annotations": { "priority": 1 } },
        { "type": "resource_link", "uri": "file:///r", "name": "r", "mimeType": "text/plain",
            "size": 12, "description": "the \"report\"", "_meta": { "k": 1 } },
        { "type": "resource_link", "uri": "file:///bare", "name": "bare" },
        { "type": "text", "text": "t" },
        { "type": "later", "data": "AA==" },
    ]);
    let called = response(&json!({ "content": blocks }));
    let shown = translate_result(called.clone(), &passage("tools/call", LEGACY, OLDEST), None);
    assert_snapshot!("content_for_2024_11_05", pretty(&shown));
    let middle = "2025-03-26".parse().unwrap();
    let shown = translate_result(called.clone(), &passage("tools/call", MODERN, middle), None);
    assert_snapshot!("content_for_2025_03_26", pretty(&shown));
    let shown = translate_result(called.clone(), &passage("tools/call", MODERN, LEGACY), None);
    assert_eq!(shown.bytes(), called.bytes());
}

#[test]
fn prompt_messages_are_content_too() {
    let audio = json!({ "type": "audio", "data": "AAAA", "mimeType": "audio/wav" });
    let got = response(&json!({ "messages": [{ "role": "user", "content": audio }] }));
    let shown = translate_result(got, &passage("prompts/get", LEGACY, OLDEST), None);
    assert_snapshot!("prompt_for_2024_11_05", pretty(&shown));
}

#[test]
fn a_result_that_is_no_object_passes() {
    let odd = build_odd();
    let shown = translate_result(odd.clone(), &passage("tools/call", LEGACY, MODERN), None);
    assert_eq!(shown.bytes(), odd.bytes());
}

fn build_odd() -> Frame {
    let message = bytes::Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"result":[1, 2]}"#);
    Frame::parse(message, &MessageLimits::default()).unwrap()
}
