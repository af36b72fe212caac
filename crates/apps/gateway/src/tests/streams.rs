//! Event streams: when an answer becomes one, what is on it, and how it is resumed.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_model::CapabilityKind;
use toolgate_wire::view::LogLevel;
use toolgate_wire::{build, method};

use super::Stage;
use super::client::{Http, call, request};
use super::script::{frame, log};
use crate::Options;
use toolgate_host::GateEvent;

fn hasty() -> Options {
    Options { sse_after: Duration::from_millis(10), ..Options::default() }
}

async fn ask(session: &Http, kind: &str) -> super::client::Reply {
    let mut message = call(1, "ask");
    message["params"]["ask"] = kind.into();
    session.post(message).await
}

#[tokio::test]
async fn what_is_said_before_the_answer_makes_it_a_stream() {
    let stage = Stage::plain().await;
    let session = stage.http.session().await;
    let mut events = session.post(call(1, "progress")).await.events();
    let primer = events.next().await.unwrap();
    assert!(primer.data.is_empty() && primer.id.is_some() && primer.retry == Some(1000));
    for step in 1..=3 {
        let message = events.message().await.unwrap();
        assert_eq!(message["params"], json!({"progressToken": "t", "progress": step}));
    }
    assert_eq!(events.message().await.unwrap()["result"]["said"], 3);
    assert!(events.next().await.is_none(), "the stream ends behind the answer");
}

#[tokio::test]
async fn clients_older_than_primers_get_none() {
    let stage = Stage::plain().await;
    let session = stage.http.open("2025-06-18", json!({})).await;
    let mut events = session.post(call(1, "progress")).await.events();
    let first = events.next().await.unwrap();
    assert!(!first.data.is_empty() && first.id.is_some() && first.retry.is_none());
}

#[tokio::test]
async fn an_answer_that_takes_long_becomes_a_stream() {
    let stage = Stage::new(hasty()).await;
    let session = stage.http.session().await;
    let mut events = session.post(call(1, "wait")).await.events();
    assert!(events.next().await.unwrap().data.is_empty());
    stage.script.go.add_permits(1);
    assert_eq!(events.message().await.unwrap()["result"]["waited"], true);
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn a_client_that_takes_events_only_gets_events() {
    let stage = Stage::plain().await;
    let session = stage.http.with("accept", "text/event-stream");
    let opened = session.post(super::client::initialize("2025-11-25", json!({}))).await;
    let id = opened.header("mcp-session-id").unwrap();
    assert_eq!(opened.events().rest().await.len(), 1, "the stream ends behind the answer");
    let session = session.with("mcp-session-id", &id);
    let messages = session.post(call(2, "echo")).await.events().rest().await;
    assert_eq!(messages[0]["result"]["name"], "echo");
}

#[tokio::test]
async fn a_client_that_names_streams_first_gets_one() {
    let stage = Stage::plain().await;
    let session = stage.http.session().await.with("accept", "text/event-stream, application/json");
    let mut events = session.post(call(1, "echo")).await.events();
    let primer = events.next().await.unwrap();
    assert!(primer.data.is_empty() && primer.id.is_some() && primer.retry == Some(1000));
    assert_eq!(events.message().await.unwrap()["result"]["name"], "echo");
    assert!(events.next().await.is_none(), "the stream ends behind the answer");
}

#[tokio::test]
async fn a_question_reaches_the_client_and_its_answer_the_server() {
    let stage = Stage::plain().await;
    let session = stage.http.open("2025-11-25", json!({"elicitation": {}, "roots": {}})).await;
    let mut events = ask(&session, "form").await.events();
    let question = events.message().await.unwrap();
    assert_eq!(question["method"], "elicitation/create");
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}});
    assert_eq!(session.post(answer.clone()).await.status(), 202);
    let outcome = events.message().await.unwrap();
    assert_eq!(outcome["result"]["answer"], r#"{"action":"accept"}"#);
    assert_eq!(session.post(answer).await.status(), 202, "a second answer is nobody's");
    let mut events = ask(&session, "roots").await.events();
    let id = events.message().await.unwrap()["id"].clone();
    let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -1, "message": "no"}});
    session.post(error).await;
    assert_eq!(events.message().await.unwrap()["result"]["answer"], "-1 no");
}

#[tokio::test]
async fn a_client_is_asked_only_what_it_declared() {
    let stage = Stage::plain().await;
    let session = stage.http.open("2025-11-25", json!({"elicitation": {}})).await;
    for kind in ["url", "sampling", "roots"] {
        let answer = ask(&session, kind).await.json().await;
        assert_eq!(answer["result"]["answer"], "unsupported", "{kind}");
    }
}

#[tokio::test]
async fn an_address_without_a_name_gets_one_for_clients_that_need_it() {
    let stage = Stage::plain().await;
    let session = stage.http.open("2025-11-25", json!({"elicitation": {"url": {}}})).await;
    let mut events = session.post(call(1, "ask-url-by-key")).await.events();
    let question = events.message().await.unwrap();
    assert_eq!(question["params"]["elicitationId"], question["id"]);
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}});
    session.post(answer).await;
    let outcome = events.message().await.unwrap();
    assert_eq!(outcome["result"]["answers"], json!([r#"{"action":"accept"}"#]));
}

#[tokio::test]
async fn a_question_that_is_taken_back_is_cancelled_at_the_client() {
    let stage = Stage::plain().await;
    let session = stage.http.open("2025-11-25", json!({"elicitation": {}})).await;
    let mut events = session.post(call(1, "give-up-asking")).await.events();
    let question = events.message().await.unwrap();
    stage.script.go.add_permits(1);
    let cancelled = events.message().await.unwrap();
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], question["id"]);
    assert_eq!(events.message().await.unwrap()["result"], json!({}));
}

#[tokio::test]
async fn a_client_that_hangs_up_before_there_is_a_stream_has_cancelled() {
    let stage = Stage::plain().await;
    let session = stage.http.session().await;
    let plain = tokio::spawn({
        let session = session.clone();
        async move { session.post(call(1, "wait")).await.status() }
    });
    stage.script.begun.notified().await;
    plain.abort();
    assert!(plain.await.is_err());
    stage.script.dropped.notified().await;
    assert_eq!(session.post(call(1, "echo")).await.status(), 200, "its id is free again");
}

#[tokio::test]
async fn a_stream_that_broke_off_is_resumed_where_it_was() {
    let stage = Stage::plain().await;
    let session = stage.http.session().await;
    let mut events = session.post(call(1, "progress-then-wait")).await.events();
    let primer = events.next().await.unwrap();
    let progress = events.message().await.unwrap();
    let last = events.last.clone().unwrap();
    drop(events);
    let _standing = session.get().await.events();
    let resumed = session.with("last-event-id", &primer.id.unwrap()).get().await.events();
    let mut both = session.with("last-event-id", &last).get().await.events();
    stage.script.go.add_permits(1);
    assert_eq!(both.message().await.unwrap()["result"]["waited"], true);
    assert!(both.next().await.is_none());
    let replayed = resumed.rest().await;
    assert!(replayed.is_empty() || replayed == [progress], "the newest reader gets the rest");
    let again = session.with("last-event-id", both.last.as_deref().unwrap()).get().await;
    assert_eq!(again.status(), 204, "it was read to its end");
    let lost = session.with("last-event-id", &last).get().await.events().rest().await;
    assert_eq!(lost.len(), 1, "what may have been lost can be read again");
    assert_eq!(session.with("last-event-id", "77-1").get().await.status(), 400);
}

#[tokio::test]
async fn an_answer_nobody_read_waits_for_the_client() {
    let stage = Stage::new(hasty()).await;
    let session = stage.http.session().await;
    let mut events = session.post(call(1, "wait")).await.events();
    let primer = events.next().await.unwrap().id.unwrap();
    drop(events);
    stage.script.go.add_permits(1);
    stage.script.finished.notified().await;
    let messages = session.with("last-event-id", &primer).get().await.events().rest().await;
    assert_eq!(messages[0]["result"]["waited"], true);
}

#[tokio::test]
async fn a_stream_that_nobody_comes_back_to_ends_its_call() {
    let stage = Stage::new(Options { resume_timeout: Duration::from_millis(50), ..hasty() }).await;
    let session = stage.http.session().await;
    let mut events = session.post(call(1, "wait")).await.events();
    let primer = events.next().await.unwrap().id.unwrap();
    drop(events);
    stage.script.dropped.notified().await;
    let resumed = session.with("last-event-id", &primer).get().await;
    assert_eq!(resumed.status(), 204, "there is nothing to come back for");
}

#[tokio::test]
async fn a_silent_stream_is_closed_and_polled() {
    let poll_after = Some(Duration::from_millis(30));
    let stage = Stage::new(Options { poll_after, ..hasty() }).await;
    let session = stage.http.session().await;
    let mut events = session.post(call(1, "wait")).await.events();
    let primer = events.next().await.unwrap();
    assert!(primer.retry.is_some());
    assert!(events.next().await.is_none(), "closed without an answer");
    let resuming = session.with("last-event-id", &primer.id.unwrap());
    let mut resumed = resuming.get().await.events();
    stage.script.go.add_permits(1);
    assert_eq!(resumed.message().await.unwrap()["result"]["waited"], true);
}

#[tokio::test]
async fn a_silent_stream_shows_that_it_lives() {
    let keep_alive = Duration::from_millis(10);
    let stage = Stage::new(Options { keep_alive, ..Options::default() }).await;
    let session = stage.http.session().await;
    let mut body = session.get().await.raw();
    let mut seen = String::new();
    while seen.matches(": keep-alive").count() < 3 {
        seen.push_str(&body.next().await.unwrap());
    }
}

#[tokio::test]
async fn the_standing_stream_begins_with_readiness_and_replays() {
    let stage = Stage::plain().await;
    let session = stage.http.session().await;
    let mut standing = session.get().await.events();
    assert!(standing.next().await.unwrap().data.is_empty());
    let ready = standing.message().await.unwrap();
    assert_eq!(ready["method"], "notifications/message");
    assert_eq!(ready["params"]["level"], "info");
    assert_eq!(ready["params"]["data"]["event"], "session-ready");
    let seen = standing.last.clone().unwrap();
    stage.script.list_changed(CapabilityKind::Tool);
    assert_eq!(standing.message().await.unwrap()["method"], "notifications/tools/list_changed");
    drop(standing);
    stage.script.list_changed(CapabilityKind::Template);
    let mut resumed = session.with("last-event-id", &seen).get().await.events();
    let methods = [resumed.message().await.unwrap(), resumed.message().await.unwrap()];
    assert_eq!(methods[0]["method"], "notifications/tools/list_changed");
    assert_eq!(methods[1]["method"], "notifications/resources/list_changed");
}

#[tokio::test]
async fn events_outside_calls_reach_those_they_concern() {
    let stage = Stage::plain().await;
    let subscriber = stage.http.session().await;
    let other = stage.http.session().await;
    let mut subscribe = request(1, "resources/subscribe");
    subscribe["params"] = json!({"uri": "test://a"});
    assert!(subscriber.post(subscribe).await.json().await["result"].is_object());
    let updated = |uri: &str| GateEvent::ResourceUpdated {
        uri: uri.into(),
        frame: frame(build::notification(
            method::RESOURCES_UPDATED,
            Some(json!({ "uri": uri }).to_string().as_bytes()),
        )),
    };
    stage.script.emit(updated("test://b"));
    stage.script.emit(updated("test://a"));
    stage.script.emit(GateEvent::Log { level: LogLevel::Debug, frame: log("debug") });
    stage.script.emit(GateEvent::Log { level: LogLevel::Error, frame: log("error") });
    let told: Vec<Value> = read(&subscriber, 3).await;
    assert_eq!(told[1]["params"]["uri"], "test://a");
    assert_eq!(told[2]["params"]["level"], "error");
    let told = read(&other, 2).await;
    assert_eq!(told[1]["params"]["level"], "error", "not subscribed, below the level");
}

async fn read(session: &Http, count: usize) -> Vec<Value> {
    let mut standing = session.get().await.events();
    let mut messages = Vec::new();
    for _ in 0..count {
        messages.push(standing.message().await.unwrap());
    }
    messages
}

#[tokio::test]
async fn the_readers_of_a_stream_are_counted() {
    let stage = Stage::plain().await;
    let session = stage.http.session().await;
    let mut open = Vec::new();
    for _ in 0..16 {
        let stream = session.get().await;
        assert_eq!(stream.status(), 200);
        open.push(stream);
    }
    assert_eq!(session.get().await.status(), 429);
}

#[tokio::test]
async fn an_answer_larger_than_the_log_is_delivered() {
    let stage = Stage::plain().await;
    let session = stage.http.session().await.with("accept", "text/event-stream");
    let messages = session.post(call(1, "large")).await.events().rest().await;
    assert_eq!(messages[0]["result"]["text"].as_str().unwrap().len(), 3 << 20);
}
