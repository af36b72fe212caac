//! The recorder's checker on the protocol's own schemas: what is right passes in every revision,
//! what is wrong is found.
//!
//! The messages are written here; the recordings of the gateway are checked where they are made.

use std::sync::LazyLock;

use serde_json::{Value, json};
use toolgate_e2e::peers;
use toolgate_testkit::recorder::{ProtocolSchemas, RecordedSide, RecordedTraffic, RecordingReport};

const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const MODERN: &str = "2026-07-28";

static SCHEMAS: LazyLock<ProtocolSchemas> =
    LazyLock::new(|| ProtocolSchemas::load(&peers::root().join("schemas")).unwrap());

/// What the server says on stdio after the client has asked for `method` as request 1.
fn said(revision: &str, method: &str, params: &Value, answer: &Value) -> RecordingReport {
    let line = |direction: &str, message: &Value| {
        let entry = json!({
            "direction": direction, "carrier": "stdio", "connection": "1-1", "message": message,
        });
        format!("{entry}\n")
    };
    let client = json!({ "name": "test", "version": "1" });
    let mut log = String::new();
    let mut params = params.clone();
    if revision == MODERN {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": client,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
    } else {
        let opening =
            json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": client });
        let opened =
            json!({ "protocolVersion": revision, "capabilities": {}, "serverInfo": client });
        log += &line("to_server", &request(0, "initialize", &opening));
        log += &line("to_client", &result(0, &opened));
    }
    log += &line("to_server", &request(1, method, &params));
    log += &line("to_client", answer);
    let recording = RecordedTraffic::parse(&log).unwrap();
    let asked = recording.check(&SCHEMAS, RecordedSide::Client);
    assert!(asked.violations.is_empty(), "{asked}");
    recording.check(&SCHEMAS, RecordedSide::Server)
}

fn request(id: u32, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn result(id: u32, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

fn failure(code: i32, data: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": code, "message": "no", "data": data } })
}

fn passes(revision: &str, method: &str, params: Value, answer: Value) {
    let checked = said(revision, method, &params, &answer);
    assert!(checked.violations.is_empty(), "{method} in {revision}: {checked}");
}

fn is_found(revision: &str, method: &str, params: Value, answer: Value) {
    let checked = said(revision, method, &params, &answer);
    assert_eq!(checked.violations.len(), 1, "{method} in {revision}, {answer}: {checked}");
    assert_eq!(checked.violations[0].revision.as_str(), revision);
}

fn call() -> Value {
    json!({ "name": "t", "arguments": {} })
}

#[test]
fn the_same_list_is_right_in_every_legacy_revision_and_lacks_its_type_in_the_modern_one() {
    let list =
        json!({ "tools": [{ "name": "t", "inputSchema": { "type": "object" }, "x": 1 }], "y": 2 });
    for revision in LEGACY {
        passes(revision, "tools/list", json!({}), result(1, &list));
        let without_schema = json!({ "tools": [{ "name": "t" }] });
        is_found(revision, "tools/list", json!({}), result(1, &without_schema));
    }
    is_found(MODERN, "tools/list", json!({}), result(1, &list));
    let mut modern = list;
    modern["resultType"] = "complete".into();
    is_found(MODERN, "tools/list", json!({}), result(1, &modern));
    (modern["ttlMs"], modern["cacheScope"]) = (0.into(), "private".into());
    passes(MODERN, "tools/list", json!({}), result(1, &modern));
    modern["tools"][0]["inputSchema"] = Value::Null;
    is_found(MODERN, "tools/list", json!({}), result(1, &modern));
}

#[test]
fn content_is_right_only_where_its_revision_knows_it() {
    let audio = json!({ "content": [{ "type": "audio", "data": "", "mimeType": "audio/wav" }] });
    let link = json!({ "content": [{ "type": "resource_link", "uri": "a:b", "name": "n" }] });
    let knows = |revision: &str, since: &str, content: &Value| match revision >= since {
        true => passes(revision, "tools/call", call(), result(1, content)),
        false => is_found(revision, "tools/call", call(), result(1, content)),
    };
    for revision in LEGACY {
        knows(revision, "2025-03-26", &audio);
        knows(revision, "2025-06-18", &link);
    }
}

#[test]
fn a_log_message_has_one_of_the_known_levels() {
    let logged = |level: &str| {
        let params = json!({ "level": level, "data": "text" });
        json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params })
    };
    for revision in LEGACY.into_iter().chain([MODERN]) {
        passes(revision, "tools/call", call(), logged("warning"));
        is_found(revision, "tools/call", call(), logged("loud"));
    }
}

#[test]
fn a_server_asks_where_its_revision_lets_it() {
    let roots = || request(7, "roots/list", &json!({ "_meta": {} }));
    for revision in LEGACY {
        passes(revision, "tools/call", call(), roots());
        is_found(revision, "tools/call", call(), request(7, "tools/list", &json!({})));
    }
    is_found(MODERN, "tools/call", call(), roots());
    let schema = json!({ "type": "object", "properties": {} });
    let elicited = json!({ "message": "?", "requestedSchema": schema });
    passes("2025-06-18", "tools/call", call(), request(7, "elicitation/create", &elicited));
    is_found("2025-03-26", "tools/call", call(), request(7, "elicitation/create", &elicited));
}

#[test]
fn questions_come_as_a_result_in_the_modern_revision() {
    let question = json!({ "method": "roots/list" });
    let asks = json!({ "resultType": "input_required", "inputRequests": { "r": question } });
    passes(MODERN, "tools/call", call(), result(1, &asks));
    is_found(MODERN, "tools/list", json!({}), result(1, &asks));
    let unknown =
        json!({ "resultType": "input_required", "inputRequests": { "r": { "method": "ping" } } });
    is_found(MODERN, "tools/call", call(), result(1, &unknown));
}

#[test]
fn a_task_is_answered_with_a_task() {
    let mut asked = call();
    asked["task"] = json!({ "ttl": 1000 });
    let at = "2026-01-01T00:00:00Z";
    let mut task = json!({ "taskId": "1", "status": "working", "createdAt": at, "lastUpdatedAt": at, "ttl": 1000 });
    passes("2025-11-25", "tools/call", asked.clone(), result(1, &json!({ "task": task })));
    task["status"] = "resting".into();
    is_found("2025-11-25", "tools/call", asked, result(1, &json!({ "task": task })));
}

#[test]
fn an_error_names_its_request_and_carries_what_its_code_promises() {
    for revision in LEGACY.into_iter().chain([MODERN]) {
        passes(revision, "tools/call", call(), failure(-32602, &Value::Null));
        let null_id =
            json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32600, "message": "" } });
        is_found(revision, "tools/call", call(), null_id);
        let stray =
            json!({ "jsonrpc": "2.0", "id": 2, "error": { "code": -32600, "message": "" } });
        is_found(revision, "tools/call", call(), stray);
    }
    let versions = json!({ "supported": [MODERN], "requested": "x" });
    passes(MODERN, "tools/call", call(), failure(-32022, &versions));
    is_found(MODERN, "tools/call", call(), failure(-32022, &json!({})));
}
