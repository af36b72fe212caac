//! Servers that lie about tasks.

use serde_json::{Value, json};
use toolgate_model::PrefixMode;
use toolgate_wire::Revision;

use super::client::{Client, End, end_of};
use super::worker::EXTENSION;
use crate::fleet::{Played, gate};

/// A modern server whose every call is a task, which stands as `look` says.
fn modern(look: Value) -> Played {
    let capabilities = json!({ "tools": {}, "extensions": { EXTENSION: {} } });
    Played::new(capabilities, move |method, _| match method {
        "tools/list" => json!({ "tools": [{ "name": "work", "inputSchema": {} }] }),
        "tools/call" => json!({ "resultType": "task", "taskId": "t", "status": "working",
            "ttlMs": null, "createdAt": "a", "lastUpdatedAt": "a" }),
        "tasks/get" => look.clone(),
        _ => json!({ "resultType": "complete" }),
    })
    .speaking(Revision::V2026_07_28)
}

fn look(status: &str) -> Value {
    json!({ "resultType": "complete", "taskId": "t", "status": status, "ttlMs": 1e300,
        "pollIntervalMs": 0, "createdAt": "a", "lastUpdatedAt": "a" })
}

#[tokio::test]
async fn a_task_of_another_id_is_not_taken_for_the_one_that_was_asked_after() {
    let mut other = look("completed");
    other["taskId"] = json!("somebody-elses");
    other["result"] = json!({ "content": [{ "type": "text", "text": "secret" }] });
    let (gate, _fleet) = gate(&[("w", &modern(other))], PrefixMode::Always).await;
    let client = Client::session();
    client.call(&gate, "w__work", "").await.unwrap();
    for method in ["tasks/get", "tasks/result"] {
        let refused = client.ask(&gate, method, json!({ "taskId": "t" })).await.unwrap_err();
        assert_eq!(refused["code"], -32603);
    }
}

#[tokio::test]
async fn who_was_told_that_it_is_cancelled_does_not_wait_for_a_server_that_goes_on() {
    let server = modern(look("working"));
    let (gate, _fleet) = gate(&[("w", &server)], PrefixMode::Always).await;
    let client = Client::session();
    client.call(&gate, "w__work", "").await.unwrap();
    let cancel = async {
        while server.count("tasks/get") == 0 {
            tokio::task::yield_now().await;
        }
        client.cancel(&gate, "t").await.unwrap()
    };
    let (end, cancelled) = tokio::join!(client.end(&gate, "t"), cancel);
    assert_eq!((end, &cancelled["status"]), (End::Cancelled, &json!("cancelled")));
}

#[tokio::test]
async fn a_status_nobody_knows_is_shown_as_work() {
    let (gate, _fleet) = gate(&[("w", &modern(look("dreaming")))], PrefixMode::Always).await;
    let client = Client::session();
    client.call(&gate, "w__work", "").await.unwrap();
    let shown = client.get(&gate, "t").await.unwrap();
    assert_eq!(shown["status"], "working");
}

#[tokio::test]
async fn an_error_of_a_task_is_told_as_that_of_a_call() {
    let mut failed = look("failed");
    failed["error"] = json!({ "code": -32021, "message": "no", "data": { "k": 1 } });
    let (gate, _fleet) = gate(&[("w", &modern(failed))], PrefixMode::Always).await;
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        let client = Client::new(revision, json!({}));
        let call = json!({ "name": "w__work", "arguments": {} });
        let answer = client.ask(&gate, "tools/call", call).await;
        assert_eq!(end_of(answer), End::Error(-32603), "it is no word of this hop");
    }
}

#[tokio::test]
async fn a_server_that_refuses_the_gates_own_request_does_not_mean_the_caller() {
    let refuses = json!({ "error": { "code": -32021, "message": "no" } });
    let (gate, _fleet) = gate(&[("w", &modern(refuses))], PrefixMode::Always).await;
    let client = Client::session();
    client.call(&gate, "w__work", "").await.unwrap();
    assert_eq!(client.get(&gate, "t").await.unwrap_err()["code"], -32603);
}
