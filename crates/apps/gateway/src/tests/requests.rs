//! Requests and their answers: what is answered, with which status, and in which form.

use std::time::Duration;

use serde_json::{Value, json};

use super::Stage;
use super::client::{call, cancelled, initialize, request};
use crate::Options;
use toolgate_transport::spool::BodyLimits;

#[tokio::test]
async fn initialize_agrees_on_a_revision_and_mints_a_session() {
    let stage = Stage::plain().await;
    let reply = stage.http.post(initialize("2025-06-18", json!({}))).await;
    let id = reply.header("mcp-session-id").unwrap();
    assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let result = &reply.json().await["result"];
    assert_eq!(result["protocolVersion"], "2025-06-18");
    assert_eq!(result["instructions"], "be \"kind\"");
    assert_eq!(result["serverInfo"]["name"], "toolgate");
    assert_eq!(result["capabilities"]["tools"]["listChanged"], true);
}

#[tokio::test]
async fn a_strict_gateway_names_the_version_it_speaks() {
    let strict = Some(toolgate_wire::Revision::V2025_11_25);
    let stage = Stage::new(Options { strict, ..Options::default() }).await;
    let reply = stage.http.post(initialize("2025-06-18", json!({}))).await;
    assert_eq!((reply.status(), reply.header("mcp-session-id")), (200, None));
    let error = &reply.json().await["error"];
    assert_eq!(error["code"], -32602);
    assert_eq!(error["data"]["supported"], json!(["2025-11-25"]));
    let agreed = stage.http.post(initialize("2025-11-25", json!({}))).await;
    assert!(agreed.header("mcp-session-id").is_some());
}

#[tokio::test]
async fn an_answer_that_comes_first_is_plain_json_under_the_clients_id() {
    let stage = Stage::plain().await;
    let session = stage.http.session().await;
    let reply = session.post(call("seven", "echo")).await;
    assert_eq!((reply.status(), reply.header("mcp-session-id")), (200, None));
    let answer = reply.json().await;
    assert_eq!((&answer["id"], &answer["result"]["name"]), (&json!("seven"), &json!("echo")));
}

#[tokio::test]
async fn a_large_list_is_answered_whole_with_its_exact_length() {
    let stage = Stage::plain().await;
    let session = stage.http.session().await;
    let reply = session.post(request(1, "tools/list")).await;
    let length: usize = reply.header("content-length").unwrap().parse().unwrap();
    let body = reply.bytes().await;
    assert_eq!(body.len(), length);
    let list: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(list["result"]["tools"].as_array().unwrap().len(), 50_001);
}

#[tokio::test]
async fn what_the_gateway_answers_itself() {
    let stage = Stage::plain().await;
    let session = stage.http.session().await;
    let mut unknown_level = request(2, "logging/setLevel");
    unknown_level["params"] = json!({"level": "loud"});
    let mut cursor = request(3, "prompts/list");
    cursor["params"] = json!({"cursor": "x"});
    let rows = [
        (request(1, "ping"), json!({}), 0),
        (request(1, "resources/templates/list"), json!({"templates": []}), 0),
        (unknown_level, Value::Null, -32602),
        (cursor, Value::Null, -32602),
        (request(4, "no/such"), Value::Null, -32601),
        (initialize("2025-11-25", json!({})), Value::Null, -32600),
        (call(5, "refused"), Value::Null, -32602),
    ];
    for (message, result, code) in rows {
        let reply = session.post(message.clone()).await;
        assert_eq!(reply.status(), 200, "{message}");
        let answer = reply.json().await;
        assert_eq!(answer["id"], message["id"]);
        assert_eq!(answer["result"], result, "{message}");
        assert_eq!(answer["error"]["code"].as_i64().unwrap_or(0), code, "{message}");
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_answered_with_its_code_and_id() {
    let stage = Stage::plain().await;
    let session = stage.http.session().await;
    let rows = [
        ("{", 400, -32700, Value::Null),
        (r#"{"jsonrpc":"2.0","id":3,"method":"ping","method":"ping"}"#, 400, -32600, json!(3)),
        (r#"{"jsonrpc":"1.0","id":4,"method":"ping"}"#, 400, -32600, json!(4)),
        (r#"[{"jsonrpc":"2.0","id":5,"method":"ping"}]"#, 400, -32600, Value::Null),
    ];
    for (body, status, code, id) in rows {
        let reply = session.send("POST", "/mcp", body.into()).await;
        assert_eq!(reply.status(), status, "{body}");
        let answer = reply.json().await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{body}");
    }
}

#[tokio::test]
async fn methods_paths_and_media_types_are_checked() {
    let stage = Stage::plain().await;
    let session = stage.http.session().await;
    let ping = request(1, "ping").to_string();
    let put = session.send("PUT", "/mcp", ping.clone()).await;
    assert_eq!((put.status(), put.header("allow")), (405, Some("GET, POST, DELETE".into())));
    assert_eq!(session.send("POST", "/", ping.clone()).await.status(), 404);
    assert_eq!(session.with("content-type", "text/plain").post(json!({})).await.status(), 415);
    assert_eq!(session.with("accept", "text/html").post(json!({})).await.status(), 406);
    assert_eq!(session.with("accept", "application/json").get().await.status(), 406);
    assert_eq!(session.with("host", "evil.example").post(json!({})).await.status(), 403);
    assert_eq!(session.with("origin", "null").get().await.status(), 403);
    assert_eq!(
        session.with("host", "evil.example").send("GET", "/healthz", String::new()).await.status(),
        403
    );
    let old = session.with("mcp-protocol-version", "2025-03-26");
    assert_eq!(old.post(request(1, "ping")).await.status(), 200);
    for version in ["1999-01-01", "2026-07-28"] {
        let odd = session.with("mcp-protocol-version", version);
        assert_eq!(odd.post(request(1, "ping")).await.status(), 400, "{version}");
    }
}

#[tokio::test]
async fn health_is_told_to_those_who_ask() {
    let health = std::sync::Arc::new(|| json!({"connected": 2}));
    let stage = Stage::new(Options { health, ..Options::default() }).await;
    stage.http.session().await;
    let reply = stage.http.send("GET", "/healthz", String::new()).await.json().await;
    assert_eq!(reply, json!({"status": "ok", "sessions": 1, "servers": {"connected": 2}}));
}

#[tokio::test]
async fn a_cancelled_request_is_answered_while_the_client_waits() {
    let stage = Stage::plain().await;
    let session = stage.http.session().await;
    let waiting = tokio::spawn({
        let session = session.clone();
        async move { session.post(call(9, "wait")).await.json().await }
    });
    stage.script.begun.notified().await;
    assert_eq!(session.post(cancelled(9)).await.status(), 202);
    stage.script.dropped.notified().await;
    let answer = waiting.await.unwrap();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(9), &json!(-32800)));
}

#[tokio::test]
async fn an_id_in_flight_cannot_be_used_again() {
    let stage = Stage::plain().await;
    let session = stage.http.session().await;
    let first = tokio::spawn({
        let session = session.clone();
        async move { session.post(call(9, "wait")).await.json().await }
    });
    stage.script.begun.notified().await;
    assert_eq!(session.post(call(9, "echo")).await.json().await["error"]["code"], -32600);
    assert_eq!(session.post(call("9", "echo")).await.json().await["result"]["name"], "echo");
    stage.script.go.add_permits(1);
    assert_eq!(first.await.unwrap()["result"]["waited"], true);
    assert_eq!(session.post(call(9, "echo")).await.json().await["id"], 9);
}

#[tokio::test]
async fn a_batch_is_answered_in_one_array_where_batches_are_legal() {
    let stage = Stage::plain().await;
    let session = stage.http.open("2025-03-26", json!({})).await;
    let odd = json!({"jsonrpc": "2.0", "id": 3});
    let batch = json!([request(1, "ping"), cancelled(77), call(2, "echo"), odd]);
    let answers = session.post(batch).await.json().await;
    let mut ids: Vec<_> = answers.as_array().unwrap().iter().map(|one| one["id"].clone()).collect();
    ids.sort_by_key(Value::to_string);
    assert_eq!(ids, [json!(1), json!(2), json!(3)]);
    assert_eq!(session.post(json!([cancelled(77)])).await.status(), 202);
    let said = session.post(json!([call(1, "progress"), request(2, "ping")])).await.events();
    let messages = said.rest().await;
    assert_eq!(messages.len(), 4, "three notifications, one array");
    assert_eq!(messages[3].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_large_body_is_taken_and_a_too_large_one_refused() {
    let body = BodyLimits { memory: 64 << 10, total: 1 << 20 };
    let stage = Stage::new(Options { body, ..Options::default() }).await;
    let session = stage.http.session().await;
    let mut large = call(1, "echo");
    large["params"]["text"] = "x".repeat(500 << 10).into();
    let answer = session.post(large.clone()).await.json().await;
    assert_eq!(answer["result"]["text"], large["params"]["text"]);
    let mut huge = call(2, "echo").to_string();
    huge.insert_str(huge.len() - 1, &format!(",\"x\":\"{}\"", "x".repeat(2 << 20)));
    let reply = session.send("POST", "/mcp", huge).await;
    assert_eq!(reply.status(), 413);
    let answer = reply.json().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(2), &json!(-32600)));
}

#[tokio::test]
async fn a_level_is_set_and_told_to_the_gate() {
    let stage = Stage::plain().await;
    let session = stage.http.session().await;
    let mut set = request(1, "logging/setLevel");
    set["params"] = json!({"level": "error"});
    assert_eq!(session.post(set).await.json().await["result"], json!({}));
    assert_eq!(*stage.script.levels.lock().unwrap(), [toolgate_wire::view::LogLevel::Error]);
    let messages = session.post(call(2, "log")).await.events().rest().await;
    let levels: Vec<_> =
        messages.iter().filter_map(|one| one["params"]["level"].as_str()).collect();
    assert_eq!(levels, ["error"]);
}

#[tokio::test]
async fn a_client_that_takes_json_only_gets_its_answer_and_cannot_be_asked() {
    let stage = Stage::new(Options { sse_after: Duration::ZERO, ..Options::default() }).await;
    let session = stage.http.open("2025-11-25", json!({"elicitation": {}})).await;
    let plain = session.with("accept", "application/json");
    assert_eq!(plain.post(call(1, "progress")).await.json().await["result"]["said"], 3);
    let mut ask = call(2, "ask");
    ask["params"]["ask"] = "form".into();
    assert_eq!(plain.post(ask).await.json().await["result"]["answer"], "unsupported");
    let mut standing = session.get().await.events();
    let mut methods = Vec::new();
    for _ in 0..4 {
        methods.push(standing.message().await.unwrap()["method"].clone());
    }
    assert_eq!(methods[0], "notifications/message", "the session is ready");
    assert_eq!(methods[3], "notifications/progress", "what was said meanwhile");
}
