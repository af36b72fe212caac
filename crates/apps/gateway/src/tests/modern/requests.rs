//! What is answered to requests without a session, with which status and in which form.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_wire::Revision;

use super::{Stage, asked, call, request};
use crate::Options;
use crate::tests::client::{cancelled, initialize};

#[tokio::test]
async fn discover_tells_what_the_gateway_is() {
    let stage = Stage::plain().await;
    let reply = stage.http.say(&request("d", "server/discover", json!({}))).await;
    assert_eq!((reply.status(), reply.header("mcp-session-id")), (200, None));
    let result = &reply.json().await["result"];
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(result["capabilities"]["tools"]["listChanged"], true);
    assert_eq!(result["instructions"], "be \"kind\"");
    assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(0), &json!("private")));
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "toolgate");
}

#[tokio::test]
async fn answers_have_the_status_of_their_code() {
    let stage = Stage::plain().await;
    let list = request(1, "tools/list", json!({}));
    assert_eq!(stage.http.result(&list).await["tools"].as_array().unwrap().len(), 50_001);
    let echoed = stage.http.result(&call("e", "echo")).await;
    assert_eq!(echoed["name"], "echo");
    let rows = [
        (request(1, "no/such", json!({})), (404, -32601)),
        (request(2, "initialize", json!({})), (404, -32601)),
        (request(3, "ping", json!({})), (404, -32601)),
        (request(4, "logging/setLevel", json!({"level": "info"})), (404, -32601)),
        (request(5, "resources/subscribe", json!({"uri": "test://a"})), (404, -32601)),
        (request(6, "resources/unsubscribe", json!({"uri": "test://a"})), (404, -32601)),
        (request(7, "tasks/list", json!({})), (404, -32601)),
        (request(8, "prompts/list", json!({"cursor": "x"})), (200, -32602)),
        (call(9, "refused"), (200, -32602)),
        (call(10, "needs-sampling"), (400, -32021)),
        (request(11, "subscriptions/listen", json!({})), (200, -32602)),
    ];
    for (message, expected) in rows {
        assert_eq!(stage.http.refusal(&message).await, expected, "{message}");
    }
    let known = request(12, "ext/known", json!({"x": 1}));
    assert_eq!(stage.http.result(&known).await["x"], 1, "a server knows it");
}

#[tokio::test]
async fn a_client_that_prefers_streams_gets_them_and_still_the_status_of_an_error() {
    let stage = Stage::plain().await;
    for accept in ["text/event-stream", "text/event-stream, application/json"] {
        let http = stage.http.with("accept", accept);
        let unknown = request(1, "no/such", json!({}));
        assert_eq!(http.refusal(&unknown).await, (404, -32601), "{accept}");
        assert_eq!(http.refusal(&call(2, "needs-sampling")).await, (400, -32021), "{accept}");
        let answers = http.say(&call(3, "echo")).await.events().rest().await;
        assert_eq!(answers[0]["result"]["name"], "echo");
        assert_eq!(answers.len(), 1);
    }
}

#[tokio::test]
async fn sessions_and_resumption_mean_nothing_here() {
    let stage = Stage::plain().await;
    let http = stage.http.with("mcp-session-id", "nonsense").with("last-event-id", "1-1");
    let reply = http.say(&call(1, "echo")).await;
    assert_eq!((reply.status(), reply.header("mcp-session-id")), (200, None));
    let modern = stage.http.with("mcp-protocol-version", "2026-07-28");
    for reply in [modern.get().await, modern.delete().await] {
        assert_eq!((reply.status(), reply.header("allow")), (405, Some("POST".into())));
    }
}

#[tokio::test]
async fn what_is_no_request_is_taken_or_refused() {
    let stage = Stage::plain().await;
    let modern = stage.http.with("mcp-protocol-version", "2026-07-28");
    assert_eq!(modern.post(cancelled(1)).await.status(), 202);
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    for refused in [answer, json!([call(1, "echo")]), json!([cancelled(1)])] {
        let reply = modern.post(refused).await;
        assert_eq!((reply.status(), &reply.json().await["error"]["code"]), (400, &json!(-32600)));
    }
    let session = stage.http.open("2025-03-26", json!({})).await;
    let mixed = json!([crate::tests::client::request(1, "ping"), call(2, "echo")]);
    assert_eq!(session.post(mixed).await.status(), 400, "no element of it is run");
    assert!(stage.script.callers.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_envelope_is_whole_or_refused() {
    let stage = Stage::plain().await;
    let modern = stage.http.with("mcp-protocol-version", "2026-07-28");
    let mut bare = call(1, "echo");
    bare["params"]["_meta"] = json!({});
    let reply = modern.post(bare).await;
    assert_eq!((reply.status(), &reply.json().await["error"]["code"]), (400, &json!(-32602)));
    let mut unknown = call(2, "echo");
    unknown["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2099-01-01".into();
    let reply = stage.http.say(&unknown).await;
    assert_eq!(reply.status(), 400);
    let error = &reply.json().await["error"];
    assert_eq!(error["code"], -32022);
    let code = "TG-GATEWAY-010";
    let data = json!({"code": code, "supported": ["2026-07-28"], "requested": "2099-01-01"});
    assert_eq!(error["data"], data);
    let mut incapable = call(3, "echo");
    incapable["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!(7);
    assert_eq!(stage.http.refusal(&incapable).await, (400, -32602));
    assert!(stage.script.callers.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_strict_gateway_serves_one_era() {
    let strict = |revision| Options { strict: Some(revision), ..Options::default() };
    let old = Stage::new(strict(Revision::V2025_11_25)).await;
    let reply = old.http.say(&call(1, "echo")).await;
    assert_eq!(reply.status(), 400);
    let error = &reply.json().await["error"];
    assert_eq!(
        (&error["code"], &error["data"]["supported"][0]),
        (&json!(-32022), &json!("2025-11-25"))
    );
    let modern = Stage::new(strict(Revision::V2026_07_28)).await;
    let reply = modern.http.post(initialize("2025-11-25", json!({}))).await;
    assert_eq!(reply.status(), 400);
    let error = &reply.json().await["error"];
    assert_eq!(error["code"], -32022);
    let code = "TG-GATEWAY-010";
    let data = json!({"code": code, "supported": ["2026-07-28"], "requested": "2025-11-25"});
    assert_eq!(error["data"], data);
    assert_eq!(modern.http.say(&call(1, "echo")).await.status(), 200);
    assert_eq!(modern.http.get().await.status(), 405);
    let old = modern.http.send("GET", "/sse", String::new()).await;
    assert_eq!(old.status(), 404, "the old transport has sessions only");
}

#[tokio::test]
async fn what_is_said_before_the_answer_makes_it_a_stream_without_ids() {
    let stage = Stage::plain().await;
    let mut message = call(1, "progress");
    message["params"]["_meta"]["progressToken"] = "t".into();
    let reply = stage.http.say(&message).await;
    assert_eq!(reply.header("x-accel-buffering").as_deref(), Some("no"));
    let mut events = reply.events();
    for step in 1..=3 {
        let event = events.next().await.unwrap();
        assert!(event.id.is_none() && event.retry.is_none());
        let message: Value =
            serde_json::from_slice(&event.data.into_bytes().await.unwrap()).unwrap();
        assert_eq!(message["params"], json!({"progressToken": "t", "progress": step}));
    }
    assert_eq!(events.message().await.unwrap()["result"]["said"], 3);
    assert!(events.next().await.is_none(), "the stream ends behind the answer");
}

#[tokio::test]
async fn progress_and_logs_are_for_those_who_asked_for_them() {
    let stage = Stage::plain().await;
    assert_eq!(stage.http.result(&call(1, "progress")).await["said"], 3, "no token");
    assert_eq!(stage.http.result(&call(2, "log")).await, json!({}), "no level");
    let mut message = call(3, "log");
    message["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = "info".into();
    let messages = stage.http.say(&message).await.events().rest().await;
    let levels: Vec<_> = messages.iter().filter_map(|m| m["params"]["level"].as_str()).collect();
    assert_eq!(levels, ["info", "error"]);
}

#[tokio::test]
async fn the_servers_are_told_of_the_client_what_it_says() {
    let stage = Stage::plain().await;
    let mut message = asked(1, "who");
    message["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = "warning".into();
    let told = stage.http.result(&message).await;
    let capabilities = json!({"elicitation": {"form": {}}, "sampling": {}, "roots": {}});
    assert_eq!(told, json!({"level": "warning", "capabilities": capabilities}));
    assert_eq!(stage.http.result(&call(2, "who")).await["level"], "none");
    let declared = json!({"elicitation": {}, "roots": {"listChanged": true}});
    let session = stage.http.open("2025-11-25", declared).await;
    let told = session.post(crate::tests::client::call(1, "who")).await.json().await;
    let capabilities = json!({"elicitation": {"form": {}}, "roots": {}});
    assert_eq!(told["result"], json!({"level": "info", "capabilities": capabilities}));
    let plain = session.with("accept", "application/json");
    let told = plain.post(crate::tests::client::call(2, "who")).await.json().await;
    assert_eq!(told["result"]["capabilities"], json!({}), "there is no way to ask it");
}

#[tokio::test]
async fn a_client_that_hangs_up_has_cancelled() {
    let hasty = Options { sse_after: Duration::from_millis(10), ..Options::default() };
    for options in [Options::default(), hasty] {
        let stage = Stage::new(options).await;
        let http = stage.http.clone();
        let waiting = tokio::spawn(async move { http.say(&call(1, "wait")).await.bytes().await });
        stage.script.begun.notified().await;
        waiting.abort();
        assert!(waiting.await.is_err());
        stage.script.dropped.notified().await;
    }
}

#[tokio::test]
async fn requests_in_flight_finish_before_the_end() {
    let mut stage = Stage::plain().await;
    let http = stage.http.clone();
    let waiting = tokio::spawn(async move { http.result(&call(1, "wait")).await });
    stage.script.begun.notified().await;
    stage.end();
    stage.script.go.add_permits(1);
    assert_eq!(waiting.await.unwrap()["waited"], true);
    stage.serving.await.unwrap().unwrap();
    assert_eq!(stage.script.released.lock().unwrap().len(), 1);
}
