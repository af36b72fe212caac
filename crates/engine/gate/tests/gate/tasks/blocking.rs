//! A caller who knows no tasks gets an ordinary answer.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_wire::{Era, Revision};

use super::client::{Client, End, end_of};
use super::gate_before;

async fn called(
    gate: &toolgate_gate::Gate,
    client: &Client,
    tool: &str,
    end: &str,
) -> Result<Value, Value> {
    let params =
        json!({ "name": tool, "arguments": { "end": end }, "_meta": { "progressToken": "p" } });
    client.ask(gate, "tools/call", params).await
}

#[tokio::test]
async fn a_tool_that_must_be_a_task_looks_like_a_call_to_who_knows_none() {
    let table = [
        ("result", End::Said("done".into())),
        ("mistake", End::Mistake("done".into())),
        ("crash", End::Error(-32050)),
        ("ask", End::Said("Ada".into())),
    ];
    for era in [Era::Legacy, Era::Modern] {
        let (gate, _fleet, worker) = gate_before(era).await;
        for revision in [Revision::V2024_11_05, Revision::V2025_06_18, Revision::V2025_11_25] {
            for (end, expected) in &table {
                let client = Client::new(revision, json!({ "elicitation": {} }));
                let answer = called(&gate, &client, "w__must", end).await;
                if let Ok(result) = &answer {
                    assert_eq!(result["_meta"].get(super::worker::RELATED), None);
                    assert_eq!(result.get("resultType"), None);
                }
                assert_eq!(end_of(answer), *expected, "{revision:?} on {era:?}: {end}");
                let asked = client.person.asked.lock().unwrap().len();
                assert_eq!(asked, usize::from(*end == "ask"), "{revision:?} on {era:?}");
                let told = client.person.told.lock().unwrap();
                let progress = told.iter().find(|it| it["method"] == "notifications/progress");
                let progress = &progress.unwrap()["params"];
                assert_eq!(
                    (&progress["progressToken"], &progress["message"]),
                    (&json!("p"), &json!("as said"))
                );
            }
        }
        assert_eq!(worker.count("tasks/cancel"), 0);
    }
}

#[tokio::test]
async fn a_tool_that_may_be_a_task_is_none_for_who_knows_none() {
    for era in [Era::Legacy, Era::Modern] {
        let (gate, _fleet, worker) = gate_before(era).await;
        for revision in [Revision::V2025_06_18, Revision::V2026_07_28] {
            let client = Client::new(revision, json!({}));
            let answer = called(&gate, &client, "w__work", "idle").await;
            assert_eq!(end_of(answer), End::Said("at once".into()));
        }
        assert_eq!(worker.count("tasks/get"), 0);
    }
}

#[tokio::test]
async fn a_modern_caller_is_told_which_capability_he_lacks() {
    for era in [Era::Legacy, Era::Modern] {
        let (gate, _fleet, _worker) = gate_before(era).await;
        let client = Client::new(Revision::V2026_07_28, json!({ "elicitation": {} }));
        let refused = called(&gate, &client, "w__must", "result").await.unwrap_err();
        assert_eq!(refused["code"], -32021, "{era:?}");
        let required = &refused["data"]["requiredCapabilities"]["extensions"];
        assert_eq!(*required, json!({ super::worker::EXTENSION: {} }));
    }
}

#[tokio::test]
async fn who_stops_waiting_cancels_the_task() {
    for era in [Era::Legacy, Era::Modern] {
        let (gate, _fleet, worker) = gate_before(era).await;
        let client = Client::new(Revision::V2025_06_18, json!({}));
        {
            let call = called(&gate, &client, "w__must", "idle");
            let looked = async {
                while worker.count("tasks/get") == 0 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            };
            tokio::select! { _ = call => panic!("it never ends"), () = looked => {} }
        }
        while worker.count("tasks/cancel") == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

#[tokio::test]
async fn a_task_that_waits_for_what_nobody_can_say_is_stopped() {
    let (gate, _fleet, worker) = gate_before(Era::Modern).await;
    let client = Client::new(Revision::V2025_06_18, json!({}));
    let answer = called(&gate, &client, "w__must", "sample").await;
    let End::Mistake(why) = end_of(answer) else { panic!("the caller was not told") };
    assert!(why.contains("no sampling"), "{why}");
    assert_eq!((worker.count("tasks/cancel"), worker.count("tools/call")), (1, 2));
    assert_eq!(worker.state("task-1")["status"], "cancelled");
}
