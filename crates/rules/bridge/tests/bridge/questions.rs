//! Questions of servers, translated for older clients.

use serde_json::{Value, json};
use toolgate_bridge::translate_question;
use toolgate_wire::{Revision, build};

use crate::{LEGACY, MODERN, OLDEST, frame};

const MIDDLE: Revision = Revision::V2025_06_18;

fn asked(method: &str, params: &Value, to: Revision) -> Value {
    let params = params.to_string();
    let request = frame(build::request("7", method, Some(params.as_bytes())));
    let shown = translate_question(request, to);
    let shown: Value = serde_json::from_slice(shown.bytes()).unwrap();
    assert_eq!((&shown["id"], &shown["method"]), (&json!(7), &json!(method)));
    shown["params"].clone()
}

fn conversation() -> Value {
    json!({ "maxTokens": 9, "tools": [{ "name": "t" }], "odd": 1, "messages": [
        { "role": "user", "content": { "type": "text", "text": "hi" }, "_meta": { "k": 1 } },
        { "role": "assistant", "content": [
            { "type": "text", "text": "so" },
            { "type": "tool_use", "id": "c1", "name": "t", "input": { "a": 1 } } ] },
        { "role": "user", "content": [{ "type": "tool_result", "toolUseId": "c1", "content": [
            { "type": "text", "text": "42" },
            { "type": "image", "data": "AA==", "mimeType": "image/png" },
            { "type": "resource", "resource": { "uri": "x://r", "text": "body" } } ] }] },
        { "role": "user", "content": { "type": "audio", "data": "AAAA", "mimeType": "audio/wav" } },
    ] })
}

#[test]
fn a_conversation_with_tools_is_told_in_single_blocks() {
    let shown = asked("sampling/createMessage", &conversation(), MIDDLE);
    let text = |role: &str, text: &str| json!({ "role": role, "content": { "type": "text", "text": text } });
    let image = json!({ "type": "image", "data": "AA==", "mimeType": "image/png" });
    let audio = conversation()["messages"][3].clone();
    let messages = json!([
        { "role": "user", "content": { "type": "text", "text": "hi" }, "_meta": { "k": 1 } },
        text("assistant", "so"),
        text("assistant", "[call c1 of tool t: {\"a\":1}]"),
        text("user", "[result of call c1]"),
        text("user", "42"),
        { "role": "user", "content": image },
        text("user", "[resource at x://r]\nbody"),
        audio,
    ]);
    assert_eq!(shown["messages"], messages);
    assert_eq!((&shown["maxTokens"], &shown["odd"]), (&json!(9), &json!(1)));
    let oldest = asked("sampling/createMessage", &conversation(), OLDEST);
    let said = &oldest["messages"][7]["content"];
    assert_eq!(said["type"], "text");
    assert!(said["text"].as_str().unwrap().starts_with("[audio, audio/wav, 3 bytes"), "{said}");
}

#[test]
fn a_choice_with_titles_is_spelled_as_2025_06_18_has_it() {
    let choice = json!({ "type": "string", "title": "Colour", "oneOf": [
        { "const": "#f00", "title": "Red" }, { "const": "#00f", "title": "Blue" } ] });
    let several =
        json!({ "type": "array", "items": { "anyOf": [{ "const": "a", "title": "A" }] } });
    let fields = json!({ "one": choice, "many": several, "n": { "type": "integer" } });
    let params = json!({ "mode": "form", "message": "?",
        "requestedSchema": { "type": "object", "properties": fields, "required": ["one"] } });
    let shown = asked("elicitation/create", &params, MIDDLE);
    let mut expected = params.clone();
    expected["requestedSchema"]["properties"]["one"] = json!({ "type": "string",
        "title": "Colour", "enum": ["#f00", "#00f"], "enumNames": ["Red", "Blue"] });
    assert_eq!(shown, expected);
}

#[test]
fn who_knows_it_all_is_asked_as_the_server_asks() {
    let params = conversation().to_string();
    let request = build::request("7", "sampling/createMessage", Some(params.as_bytes()));
    for to in [LEGACY, MODERN] {
        let request = frame(request.clone());
        let at = request.bytes().as_ptr();
        assert_eq!(translate_question(request, to).bytes().as_ptr(), at);
    }
    let roots = frame(build::request("7", "roots/list", None));
    assert_eq!(translate_question(roots.clone(), OLDEST).bytes(), roots.bytes());
}
