//! `subscriptions/listen`: what is accepted, what is reported, and how it ends.

use serde_json::{Value, json};
use toolgate_model::CapabilityKind;
use toolgate_wire::{build, method};

use super::{Stage, request};
use crate::tests::client::Events;
use crate::tests::script::frame;
use toolgate_host::GateEvent;

const ID: &str = "io.modelcontextprotocol/subscriptionId";

fn listen(id: impl Into<Value>, notifications: Value) -> Value {
    request(id, "subscriptions/listen", json!({ "notifications": notifications }))
}

async fn opened(stage: &Stage, message: &Value) -> (Events, Value) {
    let mut events = stage.http.say(message).await.events();
    let first = events.message().await.unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["_meta"][ID], message["id"]);
    (events, first["params"]["notifications"].clone())
}

fn updated(uri: &str) -> GateEvent {
    let params = json!({ "uri": uri }).to_string();
    let frame = frame(build::notification(method::RESOURCES_UPDATED, Some(params.as_bytes())));
    GateEvent::ResourceUpdated { uri: uri.into(), frame }
}

#[tokio::test]
async fn only_what_was_asked_for_and_promised_is_told() {
    let stage = Stage::plain().await;
    let wanted = json!({
        "toolsListChanged": true, "promptsListChanged": true,
        "resourceSubscriptions": ["test://a", "test://nobody"], "taskIds": ["t"],
    });
    let (mut events, promised) = opened(&stage, &listen(7, wanted)).await;
    let honoured = json!({"toolsListChanged": true, "resourceSubscriptions": ["test://a"]});
    assert_eq!(promised, honoured, "no prompts, nobody's resource, no extension");
    stage.script.list_changed(CapabilityKind::Resource);
    stage.script.emit(updated("test://b"));
    stage.script.emit(updated("test://nobody"));
    stage.script.list_changed(CapabilityKind::Tool);
    stage.script.emit(updated("test://a"));
    let changed = events.message().await.unwrap();
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    assert_eq!(changed["params"]["_meta"][ID], 7);
    let updated = events.message().await.unwrap();
    assert_eq!(updated["params"]["uri"], "test://a");
    assert_eq!(updated["params"]["_meta"][ID], 7);
}

#[tokio::test]
async fn tasks_are_told_to_the_caller_whose_they_are() {
    let stage = Stage::plain().await;
    let mut message = listen("s", json!({"taskIds": ["t"]}));
    let extension = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = extension.clone();
    let (mut events, promised) = opened(&stage, &message).await;
    assert_eq!(promised, json!({"taskIds": ["t"]}));
    let mut call = super::call(1, "echo");
    call["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = extension;
    stage.http.result(&call).await;
    let other = stage.http.with("authorization", &stage.script.key("other").await);
    other.result(&super::call(2, "echo")).await;
    let callers = stage.script.callers.lock().unwrap().clone();
    let status = |caller: usize, task: &str| GateEvent::TaskStatus {
        caller: callers[caller].id,
        principal: callers[caller].principal,
        frame: frame(build::notification(
            "notifications/tasks",
            Some(json!({"taskId": task, "status": "working"}).to_string().as_bytes()),
        )),
    };
    stage.script.emit(status(1, "t"));
    stage.script.emit(status(0, "other"));
    stage.script.emit(status(0, "t"));
    let told = events.message().await.unwrap();
    assert_eq!(
        (&told["params"]["taskId"], &told["params"]["_meta"][ID]),
        (&json!("t"), &json!("s"))
    );
    stage.script.emit(status(0, "t"));
    assert!(events.message().await.is_some(), "the others' were not told in between");
}

#[tokio::test]
async fn one_subscription_serves_all_listens_of_a_visitor() {
    let stage = Stage::plain().await;
    let wanted = json!({"resourceSubscriptions": ["test://a"]});
    let (first, _) = opened(&stage, &listen(1, wanted.clone())).await;
    let (mut second, _) = opened(&stage, &listen("1", wanted.clone())).await;
    stage.script.subscribed.notified().await;
    let seen = || stage.script.subscriptions.lock().unwrap().clone();
    let row = |method: &str| (method.to_owned(), "test://a".to_owned());
    assert_eq!(seen(), [row("resources/subscribe")]);
    drop(first);
    stage.script.emit(updated("test://a"));
    assert_eq!(second.message().await.unwrap()["params"]["_meta"][ID], "1");
    drop(second);
    stage.script.subscribed.notified().await;
    assert_eq!(seen(), [row("resources/subscribe"), row("resources/unsubscribe")]);
    opened(&stage, &listen(2, wanted)).await;
    assert_eq!(seen().len(), 3, "and anew");
}

#[tokio::test]
async fn a_client_that_missed_something_is_told_to_look_anew() {
    let stage = Stage::plain().await;
    let wanted = json!({"toolsListChanged": true, "resourceSubscriptions": ["test://a"]});
    let (mut events, _) = opened(&stage, &listen(1, wanted)).await;
    // More at once than the gate's event channel holds.
    (0..2000).for_each(|_| stage.script.emit(updated("test://a")));
    let mut methods = std::collections::HashSet::new();
    while methods.len() < 2 {
        methods.insert(events.message().await.unwrap()["method"].to_string());
    }
}

#[tokio::test]
async fn listens_end_with_a_last_word_when_the_gateway_does() {
    let mut stage = Stage::plain().await;
    let (events, _) = opened(&stage, &listen("l", json!({"toolsListChanged": true}))).await;
    stage.end();
    let rest = events.rest().await;
    let result = json!({"resultType": "complete", "_meta": {ID: "l"}});
    assert_eq!(rest, [json!({"jsonrpc": "2.0", "id": "l", "result": result})]);
    stage.serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn listens_are_counted_and_need_a_stream() {
    let stage = Stage::plain().await;
    let message = listen(1, json!({}));
    let plain = stage.http.with("accept", "application/json");
    assert_eq!(plain.say(&message).await.status(), 406);
    let mut open = Vec::new();
    for _ in 0..64 {
        open.push(opened(&stage, &message).await);
    }
    assert_eq!(stage.http.refusal(&message).await, (200, -32600));
    let other = stage.http.with("authorization", &stage.script.key("other").await);
    assert_eq!(other.say(&message).await.status(), 200, "others have their own");
}
