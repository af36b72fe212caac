//! Modern clients are recognized across requests without a session.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::json;

use super::{Stage, asked, call};
use crate::Options;

/// How many callers the gate has seen.
fn callers(stage: &Stage) -> usize {
    let callers = stage.script.callers.lock().unwrap();
    callers.iter().map(|caller| caller.id).collect::<HashSet<_>>().len()
}

#[tokio::test]
async fn requests_that_say_the_same_of_their_client_are_one_caller() {
    let stage = Stage::plain().await;
    let mut named = call(3, "echo");
    let client = json!({"name": "tester", "version": "2"});
    named["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = client;
    for (message, seen) in [
        (call(1, "echo"), 1),
        (call("other", "echo"), 1),
        (asked(1, "echo"), 2),
        (named.clone(), 3),
        (named, 3),
        (call(4, "echo"), 3),
    ] {
        stage.http.result(&message).await;
        assert_eq!(callers(&stage), seen, "{message}");
    }
    let seen = stage.script.callers.lock().unwrap();
    let named = seen.iter().find(|caller| caller.client.name == "tester").unwrap();
    assert_eq!(named.revision.as_str(), "2026-07-28");
    assert_eq!(named.client.version, "2");
}

#[tokio::test]
async fn two_principals_are_never_one_caller() {
    let stage = Stage::plain().await;
    let (one, other) = (stage.script.key("one").await, stage.script.key("other").await);
    for (credential, seen) in [(&*one, 1), (&other, 2), ("", 3), (&one, 3), ("Bearer me", 3)] {
        stage.http.with("authorization", credential).result(&call(1, "echo")).await;
        assert_eq!(callers(&stage), seen, "{credential}");
    }
}

#[tokio::test]
async fn an_idle_visitor_leaves_and_one_with_a_call_stays() {
    let session_ttl = Duration::from_millis(80);
    let stage = Stage::new(Options { session_ttl, ..Options::default() }).await;
    let http = stage.http.clone();
    let waiting = tokio::spawn(async move { http.result(&call(1, "wait")).await });
    stage.script.begun.notified().await;
    stage.http.result(&asked(2, "echo")).await;
    stage.script.release.notified().await;
    let callers = stage.script.callers.lock().unwrap().clone();
    let released = || stage.script.released.lock().unwrap().clone();
    assert_eq!(released(), [callers[1].id], "only the idle one");
    stage.script.go.add_permits(1);
    waiting.await.unwrap();
    stage.script.release.notified().await;
    assert_eq!(released(), [callers[1].id, callers[0].id]);
}

#[tokio::test]
async fn many_different_clients_leave_no_more_than_allowed() {
    let stage = Stage::plain().await;
    for number in 0..200 {
        let mut message = call(number, "echo");
        let client = json!({"name": format!("client {number}"), "version": "1"});
        message["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = client;
        stage.http.result(&message).await;
    }
    assert_eq!(stage.script.released.lock().unwrap().len(), 200 - 64);
}
