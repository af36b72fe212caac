//! Requests without a session, a message per line.

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use toolgate_model::CapabilityKind;

use super::{asked, call, request, retry};
use crate::Options;
use crate::tests::client::{cancelled, initialize};
use crate::tests::lines::Piped;

#[tokio::test]
async fn both_eras_are_served_on_one_stream() {
    let mut client = Piped::new(Options::default());
    client.send(request(1, "server/discover", json!({}))).await;
    assert_eq!(client.next().await["result"]["supportedVersions"][0], "2026-07-28");
    client.send(initialize("2025-11-25", json!({}))).await;
    assert_eq!(client.next().await["result"]["protocolVersion"], "2025-11-25");
    client.send(call(2, "echo")).await;
    assert_eq!(client.next().await["result"]["name"], "echo");
    client.send(crate::tests::client::call(3, "echo")).await;
    assert_eq!(client.next().await["id"], 3);
    let callers = client.script.callers.lock().unwrap().clone();
    assert_ne!(callers[0].id, callers[1].id);
    assert_eq!(callers[0].revision.as_str(), "2026-07-28");
    assert_eq!(callers[1].revision.as_str(), "2025-11-25");
}

#[tokio::test]
async fn errors_are_told_as_lines() {
    let mut client = Piped::new(Options::default());
    let mut broken = call(1, "echo");
    broken["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!([]);
    let mut unknown = call(2, "echo");
    unknown["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2099-01-01".into();
    let rows = [
        (broken, -32602),
        (unknown, -32022),
        (request(3, "ping", json!({})), -32601),
        (json!([call(4, "echo")]), -32600),
    ];
    for (message, code) in rows {
        client.send(message.clone()).await;
        let answer = client.next().await;
        assert_eq!(answer["error"]["code"], code, "{message}");
        assert_eq!(answer["id"], message.get("id").cloned().unwrap_or(Value::Null));
    }
}

#[tokio::test]
async fn a_cancelled_request_is_dropped_without_an_answer() {
    let mut client = Piped::new(Options::default());
    client.send(call(1, "wait")).await;
    client.script.begun.notified().await;
    client.send(call(1, "echo")).await;
    assert_eq!(client.next().await["error"]["code"], -32600, "the id is in use");
    client.send(cancelled(1)).await;
    client.script.dropped.notified().await;
    client.send(call(1, "echo")).await;
    assert_eq!(client.next().await["result"]["name"], "echo");
}

#[tokio::test]
async fn a_request_is_answered_whatever_its_method_is_called() {
    let mut client = Piped::new(Options::default());
    client.send(call(1, "wait")).await;
    client.script.begun.notified().await;
    client.send(request(2, "notifications/cancelled", json!({"requestId": 1}))).await;
    assert_eq!(client.next().await["error"]["code"], -32601);
    client.script.go.add_permits(1);
    assert_eq!(client.next().await["id"], 1, "it was not cancelled");
}

#[tokio::test]
async fn questions_and_answers_go_their_rounds() {
    let mut client = Piped::new(Options::default());
    let message = asked(1, "ask-all");
    client.send(message.clone()).await;
    let asked = client.next().await["result"].clone();
    assert_eq!(asked["resultType"], "input_required");
    let answers = json!({"the-form": {"action": "accept"}, "the-sampling": {"role": "x"}});
    client.send(retry(message, 2, &asked, answers)).await;
    let answer = client.next().await;
    let expected = json!([r#"{"action":"accept"}"#, r#"{"role":"x"}"#]);
    assert_eq!((&answer["id"], &answer["result"]["answers"]), (&json!(2), &expected));
}

#[tokio::test]
async fn a_state_is_of_no_use_on_another_connection() {
    let mut client = Piped::new(Options::default());
    let message = asked(1, "ask-and-wait");
    client.send(message.clone()).await;
    let asked = client.next().await["result"].clone();
    let mut other = client.beside();
    let answers = json!({"q1": {"action": "accept"}});
    other.send(retry(message.clone(), 2, &asked, answers.clone())).await;
    let refused = other.next().await;
    assert_eq!(refused["error"]["code"], -32602);
    assert!(refused["error"]["message"].as_str().unwrap().contains("another caller"));
    client.send(retry(message, 3, &asked, answers)).await;
    assert_eq!(client.next().await["result"]["answers"][0], r#"{"action":"accept"}"#);
}

#[tokio::test]
async fn a_connection_that_ends_takes_its_parked_calls_with_it() {
    let mut client = Piped::new(Options::default());
    client.send(asked(1, "ask-and-wait")).await;
    assert_eq!(client.next().await["result"]["resultType"], "input_required");
    drop(client.input.take());
    let Piped { script, serving, output, .. } = client;
    drop(output);
    script.dropped.notified().await;
    serving.await.unwrap().unwrap();
    script.release.notified().await;
    assert_eq!(script.released.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn listens_share_the_stream_and_end_on_demand() {
    let mut client = Piped::new(Options::default());
    let listen = |id: u64, kinds: Value| {
        request(id, "subscriptions/listen", json!({ "notifications": kinds }))
    };
    client.send(listen(1, json!({"toolsListChanged": true}))).await;
    assert_eq!(client.next().await["method"], "notifications/subscriptions/acknowledged");
    client.send(listen(2, json!({"resourcesListChanged": true}))).await;
    assert_eq!(client.next().await["method"], "notifications/subscriptions/acknowledged");
    client.script.list_changed(CapabilityKind::Tool);
    let told = client.next().await;
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
    client.send(cancelled(1)).await;
    client.send(call(3, "echo")).await;
    assert_eq!(client.next().await["id"], 3, "a cancelled listen says nothing more");
    client.script.list_changed(CapabilityKind::Tool);
    client.script.list_changed(CapabilityKind::Resource);
    let told = client.next().await;
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 2);
    client.input.as_mut().unwrap().shutdown().await.unwrap();
    let last = client.next().await;
    assert_eq!((&last["id"], &last["result"]["resultType"]), (&json!(2), &json!("complete")));
}
