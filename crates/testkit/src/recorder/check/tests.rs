//! Tests the checker with small schemas in the form of the protocol's own.
//!
//! The end-to-end tests check real sessions against the real schemas.

use serde_json::{Value, json};

use super::super::{ProtocolSchemas, RecordedTraffic, SchemaRevision};
use super::RecordedSide;

fn message(kind: &str, required: &[&str], method: &str, params: &Value) -> (String, Value) {
    let name = kind.to_owned();
    let method = json!({ "const": method, "type": "string" });
    let properties = json!({ "method": method, "params": params });
    (name, json!({ "type": "object", "properties": properties, "required": required }))
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

fn union(names: &[&str]) -> Value {
    let reference = |name: &&str| json!({ "$ref": format!("#/$defs/{name}") });
    json!({ "anyOf": names.iter().map(reference).collect::<Vec<_>>() })
}

/// What both eras share: the envelopes, a list of tools, a call, a log message.
fn common() -> serde_json::Map<String, Value> {
    let id = json!({ "type": ["string", "integer"] });
    let version = json!({ "const": "2.0" });
    let text = json!({ "type": "string" });
    let tool = object(
        json!({ "name": text, "inputSchema": { "type": "object" } }),
        &["name", "inputSchema"],
    );
    let logged = object(json!({ "level": { "enum": ["info", "error"] } }), &["level", "data"]);
    let envelope = |required: &[&str]| object(json!({ "jsonrpc": version, "id": id }), required);
    let messages = [
        ("JSONRPCRequest".to_owned(), envelope(&["jsonrpc", "id", "method"])),
        ("JSONRPCNotification".to_owned(), envelope(&["jsonrpc", "method"])),
        ("JSONRPCResponse".to_owned(), envelope(&["jsonrpc", "id", "result"])),
        ("JSONRPCError".to_owned(), envelope(&["jsonrpc", "id", "error"])),
        ("Result".to_owned(), json!({ "type": "object" })),
        message("ListToolsRequest", &["method"], "tools/list", &json!({})),
        message(
            "CallToolRequest",
            &["method", "params"],
            "tools/call",
            &object(json!({ "name": text }), &["name"]),
        ),
        message(
            "LoggingMessageNotification",
            &["method", "params"],
            "notifications/message",
            &logged,
        ),
        (
            "ListToolsResult".to_owned(),
            object(json!({ "tools": { "type": "array", "items": tool } }), &["tools"]),
        ),
        (
            "CallToolResult".to_owned(),
            object(json!({ "content": { "type": "array" } }), &["content"]),
        ),
        ("ServerNotification".to_owned(), union(&["LoggingMessageNotification"])),
    ];
    messages.into_iter().collect()
}

fn legacy() -> Value {
    let mut all = common();
    all.extend([
        message("InitializeRequest", &["method", "params"], "initialize", &json!({})),
        ("InitializeResult".to_owned(), object(json!({}), &["protocolVersion", "serverInfo"])),
        message("PingRequest", &["method"], "ping", &json!({})),
        message(
            "CreateMessageRequest",
            &["method", "params"],
            "sampling/createMessage",
            &json!({}),
        ),
        (
            "ClientRequest".to_owned(),
            union(&["InitializeRequest", "PingRequest", "ListToolsRequest", "CallToolRequest"]),
        ),
        ("ServerRequest".to_owned(), union(&["PingRequest", "CreateMessageRequest"])),
    ]);
    json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": all })
}

fn modern() -> Value {
    let mut all = common();
    let result = json!({ "resultType": { "type": "string" } });
    let called = json!({ "anyOf": [{ "$ref": "#/$defs/InputRequiredResult" }, { "$ref": "#/$defs/CallToolResult" }] });
    all.extend([
        ("RequestParams".to_owned(), object(json!({ "_meta": { "type": "object" } }), &["_meta"])),
        ("CallToolResult".to_owned(), object(result.clone(), &["resultType", "content"])),
        ("InputRequiredResult".to_owned(), object(result, &["resultType"])),
        ("CallToolResultResponse".to_owned(), object(json!({ "result": called }), &[])),
        ("ClientRequest".to_owned(), union(&["ListToolsRequest", "CallToolRequest"])),
    ]);
    json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": all })
}

fn schemas() -> ProtocolSchemas {
    ProtocolSchemas::each(|revision| Ok(if revision.is_modern() { modern() } else { legacy() }))
        .unwrap()
}

fn line(direction: &str, message: Value) -> Value {
    json!({ "direction": direction, "carrier": "stdio", "connection": "1-1", "message": message })
}

/// What is wrong with what the server says after the client has said its part.
fn found(lines: &[Value]) -> Vec<(String, SchemaRevision)> {
    found_of(lines, RecordedSide::Server)
}

fn found_of(lines: &[Value], side: RecordedSide) -> Vec<(String, SchemaRevision)> {
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    let checked = RecordedTraffic::parse(&text.join("\n")).unwrap().check(&schemas(), side);
    assert!(checked.messages > 0, "nothing was checked");
    checked.violations.into_iter().map(|it| (it.about, it.revision)).collect()
}

fn opened() -> Vec<Value> {
    let params = json!({ "protocolVersion": "2031-01-01" });
    let agreed = json!({ "protocolVersion": "2025-06-18", "serverInfo": {} });
    vec![
        line(
            "to_server",
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }),
        ),
        line("to_client", json!({ "jsonrpc": "2.0", "id": 0, "result": agreed })),
    ]
}

fn asked(id: u32, method: &str) -> Value {
    let params = json!({ "name": "t" });
    line("to_server", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

fn asked_modern(id: u32, method: &str) -> Value {
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
    let params = json!({ "name": "t", "_meta": meta });
    line("to_server", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

fn answered(id: u32, result: Value) -> Value {
    line("to_client", json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

#[test]
fn a_result_is_held_against_the_method_it_answers_in_the_revision_agreed_upon() {
    let session =
        |result: Value| [opened(), vec![asked(1, "tools/list"), answered(1, result)]].concat();
    let good = json!({ "tools": [{ "name": "t", "inputSchema": {} }] });
    assert_eq!(found(&session(good)), []);
    let without_schema = json!({ "tools": [{ "name": "t" }] });
    assert_eq!(
        found(&session(without_schema)),
        [("result of tools/list".to_owned(), SchemaRevision::V2025_06_18)]
    );
}

#[test]
fn what_the_schema_does_not_name_is_no_violation() {
    let extra = json!({ "tools": [], "x-more": 1, "resultType": "complete" });
    assert_eq!(found(&[opened(), vec![asked(1, "tools/list"), answered(1, extra)]].concat()), []);
    let unknown =
        line("to_client", json!({ "jsonrpc": "2.0", "method": "notifications/of/tomorrow" }));
    assert_eq!(found(&[opened(), vec![unknown]].concat()), []);
}

#[test]
fn a_modern_result_names_its_type_and_questions_stand_only_where_they_may() {
    let complete = json!({ "content": [], "resultType": "complete" });
    assert_eq!(found(&[asked_modern(1, "tools/call"), answered(1, complete)]), []);
    let bad = [
        ("tools/call", json!({ "content": [] })),
        ("tools/call", json!({ "resultType": "complete" })),
        ("tools/list", json!({ "resultType": "input_required" })),
    ];
    for (method, result) in bad {
        let found = found(&[asked_modern(1, method), answered(1, result)]);
        assert_eq!(found, [(format!("result of {method}"), SchemaRevision::V2026_07_28)]);
    }
    let questions = json!({ "resultType": "input_required" });
    assert_eq!(found(&[asked_modern(1, "tools/call"), answered(1, questions)]), []);
}

#[test]
fn a_server_asks_a_legacy_client_and_never_a_modern_one() {
    let sample = || {
        line(
            "to_client",
            json!({ "jsonrpc": "2.0", "id": 9, "method": "sampling/createMessage", "params": { "_meta": {} } }),
        )
    };
    assert_eq!(found(&[opened(), vec![sample()]].concat()), []);
    let about = "request sampling/createMessage".to_owned();
    assert_eq!(
        found(&[asked_modern(1, "tools/call"), sample()]),
        [(about, SchemaRevision::V2026_07_28)]
    );
}

#[test]
fn the_probe_of_a_legacy_server_does_not_make_its_session_modern() {
    let refused =
        json!({ "jsonrpc": "2.0", "id": 7, "error": { "code": -32601, "message": "no" } });
    let probe = vec![asked_modern(7, "tools/list"), line("to_client", refused)];
    let rest = vec![asked(1, "tools/call"), answered(1, json!({ "content": [] }))];
    assert_eq!(found(&[probe, opened(), rest].concat()), []);
}

#[test]
fn wrong_levels_ids_directions_and_answers_to_nobody_are_found() {
    let level = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "loud", "data": 1 } });
    let null_id = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": 1, "message": "" } });
    let reversed = json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/list" });
    let stray = json!({ "jsonrpc": "2.0", "id": 77, "result": {} });
    let neither = json!({ "jsonrpc": "2.0", "id": 1 });
    let batch = json!([{ "jsonrpc": "2.0", "id": 5, "method": "ping" }]);
    for (message, about) in [
        (level, "notification notifications/message"),
        (null_id, "error of no request"),
        (reversed, "request tools/list"),
        (stray, "result of no request"),
        (neither, "message"),
        (batch, "carrier"),
    ] {
        let found = found(&[opened(), vec![line("to_client", message)]].concat());
        assert_eq!(found, [(about.to_owned(), SchemaRevision::V2025_06_18)]);
    }
}

#[test]
fn a_line_that_is_no_json_is_found_on_stdio() {
    let noise = json!({ "direction": "to_client", "carrier": "stdio", "connection": "1-1", "text": "hello" });
    let found = found(&[opened(), vec![noise]].concat());
    assert_eq!(found, [("carrier".to_owned(), SchemaRevision::V2025_06_18)]);
}

fn over_http(direction: &str, exchange: u32, head: Value, message: Value) -> Value {
    json!({ "direction": direction, "carrier": "http", "connection": "1-1", "exchange": exchange, "http": head, "message": message })
}

#[test]
fn a_session_over_http_keeps_its_revision_over_exchanges_and_in_its_headers() {
    let sent = |version: &str| {
        json!({ "method": "POST", "path": "/mcp", "headers": {
            "accept": "application/json, text/event-stream", "content-type": "application/json",
            "mcp-session-id": "s", "mcp-protocol-version": version,
        } })
    };
    let opening = |version: &str| {
        let mut head = sent(version);
        head["headers"].as_object_mut().unwrap().remove("mcp-session-id");
        head
    };
    let [ask, agree] = <[Value; 2]>::try_from(opened()).unwrap();
    let told = json!({ "status": 200, "headers": { "mcp-session-id": "s", "content-type": "application/json" } });
    let session = |version: &str, result: Value| {
        [
            over_http("to_server", 1, opening("2025-06-18"), ask["message"].clone()),
            over_http("to_client", 1, told.clone(), agree["message"].clone()),
            over_http("to_server", 2, sent(version), asked(1, "tools/list")["message"].clone()),
            over_http("to_client", 2, told.clone(), answered(1, result)["message"].clone()),
        ]
    };
    let good = session("2025-06-18", json!({ "tools": [] }));
    assert_eq!(found(&good), []);
    assert_eq!(found_of(&good, RecordedSide::Client), []);
    let wrong = session("2025-03-26", json!({}));
    assert_eq!(found(&wrong), [("result of tools/list".to_owned(), SchemaRevision::V2025_06_18)]);
    assert_eq!(
        found_of(&wrong, RecordedSide::Client),
        [("headers".to_owned(), SchemaRevision::V2025_06_18)]
    );
}

#[test]
fn answers_on_the_stream_of_the_oldest_transport_are_matched_with_what_was_posted() {
    let head = |method: &str, path: &str| json!({ "method": method, "path": path, "headers": { "content-type": "application/json" } });
    let stream = json!({ "status": 200, "headers": { "content-type": "text/event-stream" } });
    let mut endpoint = over_http("to_client", 1, stream.clone(), Value::Null);
    endpoint["event"] = "endpoint".into();
    endpoint["text"] = "http://127.0.0.1:1/messages?id=7".into();
    let [ask, agree] = <[Value; 2]>::try_from(opened()).unwrap();
    let mut session = vec![
        over_http("to_server", 1, head("GET", "/sse"), Value::Null),
        endpoint,
        over_http("to_server", 2, head("POST", "/messages?id=7"), ask["message"].clone()),
        over_http("to_client", 1, stream.clone(), agree["message"].clone()),
        over_http(
            "to_server",
            3,
            head("POST", "/messages?id=7"),
            asked(1, "tools/list")["message"].clone(),
        ),
    ];
    assert_eq!(found_of(&session, RecordedSide::Client), []);
    session.push(over_http("to_client", 1, stream, answered(1, json!({}))["message"].clone()));
    assert_eq!(found(&session), [("result of tools/list".to_owned(), SchemaRevision::V2025_06_18)]);
}
