//! `/sse` and `/messages`: a client of 2024-11-05, on the transport of that time.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_model::CapabilityKind;

use super::Stage;
use super::client::{Events, Http, call, cancelled, initialize, request};
use crate::{ConnectionTimeouts, Options};

/// A client and its stream.
struct Old {
    http: Http,
    place: String,
    events: Events,
}

impl Old {
    /// Opens a stream and reads the path for POST requests.
    async fn connect(http: &Http) -> Self {
        Self::connect_at(http, "/sse").await
    }

    /// Opens a stream at another path.
    async fn connect_at(http: &Http, path: &str) -> Self {
        let reply = http.send("GET", path, String::new()).await;
        assert_eq!(reply.status(), 200);
        let mut events = reply.events();
        let first = events.next().await.unwrap();
        assert_eq!(first.name, "endpoint");
        let place = String::from_utf8(first.data.into_bytes().await.unwrap().to_vec()).unwrap();
        Self { http: http.clone(), place, events }
    }

    /// Opens a stream and a session.
    async fn open(http: &Http, revision: &str, capabilities: Value) -> Self {
        let mut client = Self::connect(http).await;
        assert_eq!(client.post(initialize(revision, capabilities)).await, 202);
        assert_eq!(client.next().await["result"]["protocolVersion"], revision);
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(client.post(initialized).await, 202);
        assert_eq!(client.next().await["params"]["data"]["event"], "session-ready");
        client
    }

    async fn session(stage: &Stage) -> Self {
        Self::open(&stage.http, "2024-11-05", json!({})).await
    }

    async fn post(&self, message: Value) -> u16 {
        self.http.send("POST", &self.place, message.to_string()).await.status()
    }

    /// The next message.
    async fn next(&mut self) -> Value {
        let event = self.events.next().await.unwrap();
        assert_eq!((event.name.as_str(), event.id), ("message", None));
        serde_json::from_slice(&event.data.into_bytes().await.unwrap()).unwrap()
    }
}

#[tokio::test]
async fn a_call_is_answered_on_the_stream_behind_its_progress() {
    let stage = Stage::plain().await;
    let mut client = Old::session(&stage).await;
    assert_eq!(client.post(call("a", "progress")).await, 202);
    for step in 1..=3 {
        let told = client.next().await;
        assert_eq!(told["params"], json!({"progressToken": "t", "progress": step}));
    }
    let answer = client.next().await;
    assert_eq!((&answer["id"], &answer["result"]["said"]), (&json!("a"), &json!(3)));
    stage.script.list_changed(CapabilityKind::Tool);
    assert_eq!(client.next().await["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn calls_run_side_by_side_and_one_can_be_cancelled() {
    let stage = Stage::plain().await;
    let mut client = Old::session(&stage).await;
    client.post(call(1, "wait")).await;
    stage.script.begun.notified().await;
    client.post(call(2, "echo")).await;
    assert_eq!(client.next().await["id"], 2);
    client.post(cancelled(1)).await;
    stage.script.dropped.notified().await;
    let answer = client.next().await;
    assert!(answer["id"] == 1 && answer["error"].is_object(), "{answer}");
}

#[tokio::test]
async fn a_question_is_put_on_the_stream_and_answered_by_a_post() {
    let stage = Stage::plain().await;
    let mut client = Old::open(&stage.http, "2025-11-25", json!({"elicitation": {}})).await;
    let mut ask = call(1, "ask");
    ask["params"]["ask"] = "form".into();
    client.post(ask).await;
    let question = client.next().await;
    assert_eq!(question["method"], "elicitation/create");
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}});
    assert_eq!(client.post(answer).await, 202);
    assert_eq!(client.next().await["result"]["answer"], r#"{"action":"accept"}"#);
}

#[tokio::test]
async fn two_clients_are_kept_apart() {
    let stage = Stage::plain().await;
    let mut one = Old::session(&stage).await;
    let mut two = Old::session(&stage).await;
    assert_ne!(one.place, two.place);
    one.post(call(1, "echo")).await;
    two.post(call(2, "echo")).await;
    assert_eq!(one.next().await["id"], 1);
    assert_eq!(two.next().await["id"], 2);
    let callers = stage.script.callers.lock().unwrap().clone();
    assert_ne!(callers[0].id, callers[1].id);
}

#[tokio::test]
async fn a_page_of_another_origin_is_refused() {
    let stage = Stage::plain().await;
    let client = Old::session(&stage).await;
    let foreign = stage.http.with("origin", "http://evil.example");
    assert_eq!(foreign.send("GET", "/sse", String::new()).await.status(), 403);
    let message = request(1, "ping").to_string();
    assert_eq!(foreign.send("POST", &client.place, message.clone()).await.status(), 403);
    let plain = stage.http.with("content-type", "text/plain");
    assert_eq!(plain.send("POST", &client.place, message).await.status(), 415);
}

#[tokio::test]
async fn a_session_is_found_by_whoever_opened_it_and_nobody_else() {
    let stage = Stage::plain().await;
    let (own, other) = (stage.script.key("one").await, stage.script.key("two").await);
    let holder = stage.http.with("authorization", &own);
    let client = Old::open(&holder, "2024-11-05", json!({})).await;
    let message = request(1, "ping").to_string();
    for other in [stage.http.clone(), stage.http.with("authorization", &other)] {
        assert_eq!(other.send("POST", &client.place, message.clone()).await.status(), 404);
    }
    for place in ["/messages", "/messages?session=", &format!("/messages?session={:032x}", 7)] {
        assert_eq!(holder.send("POST", place, message.clone()).await.status(), 404, "{place}");
    }
    assert_eq!(client.post(request(1, "ping")).await, 202);
}

#[tokio::test]
async fn other_methods_are_not_allowed() {
    let stage = Stage::plain().await;
    for (verb, path, allowed) in
        [("POST", "/sse", "GET"), ("DELETE", "/sse", "GET"), ("GET", "/messages", "POST")]
    {
        let reply = stage.http.send(verb, path, String::new()).await;
        assert_eq!((reply.status(), reply.header("allow").as_deref()), (405, Some(allowed)));
    }
    let plain = stage.http.with("accept", "application/json");
    assert_eq!(plain.send("GET", "/sse", String::new()).await.status(), 406);
}

#[tokio::test]
async fn the_end_of_the_stream_cancels_what_runs_and_ends_the_session() {
    let stage = Stage::plain().await;
    let client = Old::session(&stage).await;
    client.post(call(1, "wait")).await;
    stage.script.begun.notified().await;
    let (http, place) = (client.http.clone(), client.place.clone());
    drop(client);
    stage.script.dropped.notified().await;
    stage.script.release.notified().await;
    assert_eq!(http.send("POST", &place, request(2, "ping").to_string()).await.status(), 404);
}

#[tokio::test]
async fn before_initialize_there_is_little_to_say() {
    let stage = Stage::plain().await;
    let mut client = Old::connect(&stage.http).await;
    client.post(request(1, "ping")).await;
    assert_eq!(client.next().await["result"], json!({}));
    client.post(request(2, "tools/list")).await;
    assert_eq!(client.next().await["error"]["code"], -32600);
    assert_eq!(client.post(json!([request(3, "ping")])).await, 400);
    assert_eq!(client.post(initialize("2025-03-26", json!({}))).await, 202);
    assert_eq!(client.next().await["result"]["protocolVersion"], "2025-03-26");
    client.post(initialize("2025-03-26", json!({}))).await;
    assert!(client.next().await["error"].is_object(), "a session is opened once");
}

#[tokio::test]
async fn batches_are_for_the_revision_that_has_them() {
    let stage = Stage::plain().await;
    let mut client = Old::open(&stage.http, "2025-03-26", json!({})).await;
    assert_eq!(client.post(json!([call(1, "echo"), call(2, "echo")])).await, 202);
    assert_eq!(client.next().await.as_array().unwrap().len(), 2);
    let client = Old::session(&stage).await;
    assert_eq!(client.post(json!([call(1, "echo")])).await, 400);
    assert_eq!(client.post(json!(7)).await, 400);
}

#[tokio::test]
async fn a_message_without_session_is_refused_whoever_sends_it() {
    let stage = Stage::plain().await;
    let mut client = Old::session(&stage).await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"sampling": {}},
    });
    let mut modern = call(1, "echo");
    modern["params"]["_meta"] = meta.clone();
    let mut notice = cancelled(1);
    notice["params"]["_meta"] = meta;
    for message in [json!([&modern]), modern, notice] {
        assert_eq!(client.post(message.clone()).await, 400, "{message}");
    }
    assert!(stage.script.callers.lock().unwrap().is_empty());
    client.post(call(2, "echo")).await;
    assert_eq!(client.next().await["id"], 2);
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused() {
    let body = toolgate_transport::spool::BodyLimits { memory: 1000, total: 2000 };
    let stage = Stage::new(Options { body, ..Options::default() }).await;
    let client = Old::session(&stage).await;
    let mut large = call(1, "echo");
    large["params"]["text"] = "x".repeat(3000).into();
    assert_eq!(client.post(large).await, 413);
}

#[tokio::test]
async fn a_silent_stream_shows_that_it_lives() {
    let keep_alive = Duration::from_millis(10);
    let stage = Stage::new(Options { keep_alive, ..Options::default() }).await;
    let mut body = stage.http.send("GET", "/sse", String::new()).await.raw();
    let mut seen = String::new();
    while seen.matches(": keep-alive").count() < 3 {
        seen.push_str(&body.next().await.unwrap());
    }
}

#[tokio::test]
async fn a_client_that_says_nothing_gives_way_and_one_in_use_does_not() {
    let stage = Stage::new(Options { sessions: 2, ..Options::default() }).await;
    let used = Old::session(&stage).await;
    let mut silent = Old::connect(&stage.http).await;
    let newer = Old::session(&stage).await;
    assert!(silent.events.next().await.is_none(), "its stream has ended");
    let refused = stage.http.send("GET", "/sse", String::new()).await;
    assert_eq!((refused.status(), refused.header("retry-after").is_some()), (503, true));
    for client in [used, newer] {
        assert_eq!(client.post(request(1, "ping")).await, 202);
    }
}

#[tokio::test]
async fn a_stream_on_which_nothing_begins_ends_after_a_while() {
    let short = Duration::from_millis(80);
    let cuts = ConnectionTimeouts { idle: short, ..ConnectionTimeouts::default() };
    let stage = Stage::new(Options { timeouts: cuts, ..Options::default() }).await;
    let mut used = Old::session(&stage).await;
    let mut silent = Old::connect(&stage.http).await;
    assert!(silent.events.next().await.is_none());
    used.post(call(1, "echo")).await;
    assert_eq!(used.next().await["id"], 1);
}

#[tokio::test]
async fn streams_on_which_nothing_begins_keep_nobody_out() {
    let stage = Stage::new(Options { connections: 1, ..Options::default() }).await;
    let _silent = Old::connect(&stage.http).await;
    let reply = stage.http.post(initialize("2025-11-25", json!({}))).await;
    assert_eq!(reply.status(), 200);
}

#[tokio::test]
async fn a_gateway_that_ends_lets_calls_finish_and_then_ends_the_stream() {
    let mut stage = Stage::plain().await;
    let mut client = Old::session(&stage).await;
    client.post(call(1, "wait")).await;
    stage.script.begun.notified().await;
    stage.end();
    stage.script.go.add_permits(1);
    assert_eq!(client.next().await["result"]["waited"], true);
    assert!(client.events.next().await.is_none());
    (&mut stage.serving).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_has_the_profile_of_the_place_it_came_to() {
    let stage = Stage::plain().await;
    let mut client = Old::connect_at(&stage.http, "/sse/reader").await;
    assert_eq!(client.post(initialize("2024-11-05", json!({}))).await, 202);
    client.next().await;
    assert_eq!(client.post(call(1, "echo")).await, 202);
    client.next().await;
    assert_eq!(stage.script.seen_by(), ["reader"]);
}
