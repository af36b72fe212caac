//! Both sides know tasks, in the same form or not.

use serde_json::{Value, json};
use toolgate_gate::GateEvent;
use toolgate_model::CapabilityKind;
use toolgate_wire::{Era, Revision};

use super::client::{Client, End};
use super::gate_before;

const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

fn clients() -> [Client; 2] {
    [Client::session(), Client::extension()]
}

#[tokio::test]
async fn a_task_ends_the_same_in_every_pairing() {
    let table = [
        ("result", End::Said("done".into())),
        ("mistake", End::Mistake("done".into())),
        ("crash", End::Error(-32050)),
        ("ask", End::Said("Ada".into())),
    ];
    for era in ERAS {
        let (gate, _fleet, worker) = gate_before(era).await;
        for client in clients() {
            for (end, expected) in &table {
                let pairing = format!("{:?} on {era:?}: {end}", client.caller.revision);
                let before = worker.count("tools/call");
                let id = client.begin(&gate, end).await;
                assert_eq!(client.end(&gate, &id).await, *expected, "{pairing}");
                assert_eq!(client.end(&gate, &id).await, *expected, "again, {pairing}");
                assert_eq!(worker.count("tools/call"), before + 1, "run once, {pairing}");
            }
        }
    }
}

#[tokio::test]
async fn a_running_task_is_polled_in_every_pairing() {
    for era in ERAS {
        let (gate, _fleet, _worker) = gate_before(era).await;
        for client in clients() {
            let id = client.begin(&gate, "idle").await;
            for _ in 0..3 {
                let task = client.get(&gate, &id).await.unwrap();
                assert_eq!(task["status"], "working");
                assert_eq!(task["taskId"], json!(id));
                assert_eq!(task["statusMessage"], "as said");
            }
        }
    }
}

#[tokio::test]
async fn a_task_is_cancelled_in_every_pairing() {
    for era in ERAS {
        let (gate, _fleet, worker) = gate_before(era).await;
        for client in clients() {
            let modern = client.caller.revision.era() == Era::Modern;
            let id = client.begin(&gate, "idle").await;
            let done = client.cancel(&gate, &id).await.unwrap();
            match modern {
                true => assert_eq!(
                    (&done["resultType"], done.get("status")),
                    (&json!("complete"), None)
                ),
                false => assert_eq!(done["status"], "cancelled"),
            }
            assert_eq!(client.get(&gate, &id).await.unwrap()["status"], "cancelled");
            assert_eq!(worker.state(&id)["status"], "cancelled", "at the server too");
            match (modern, client.cancel(&gate, &id).await) {
                (true, again) => assert_eq!(again.unwrap()["resultType"], "complete"),
                (false, again) => assert_eq!(again.unwrap_err()["code"], -32602),
            }
        }
    }
}

#[tokio::test]
async fn a_question_in_the_older_form_bears_the_mark_of_its_task() {
    let (gate, _fleet, _worker) = gate_before(Era::Modern).await;
    let client = Client::session();
    let id = client.begin(&gate, "ask").await;
    assert_eq!(client.get(&gate, &id).await.unwrap()["status"], "input_required");
    client.end(&gate, &id).await;
    let asked = client.person.asked.lock().unwrap();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0]["params"]["_meta"][super::worker::RELATED]["taskId"], json!(id));
}

#[tokio::test]
async fn two_who_wait_for_one_task_are_asked_once() {
    let (gate, _fleet, _worker) = gate_before(Era::Modern).await;
    let client = Client::session();
    let id = client.begin(&gate, "ask").await;
    let (one, two) = tokio::join!(client.end(&gate, &id), client.end(&gate, &id));
    assert_eq!((one, two), (End::Said("Ada".into()), End::Said("Ada".into())));
    assert_eq!(client.person.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_result_that_came_at_once_is_held_as_a_finished_task() {
    let (gate, _fleet, _worker) = gate_before(Era::Modern).await;
    let client = Client::session();
    let created = client.call(&gate, "w__quick", "").await.unwrap();
    assert_eq!(created["task"]["status"], "completed");
    let id = created["task"]["taskId"].as_str().unwrap();
    assert_eq!(client.get(&gate, id).await.unwrap()["status"], "completed");
    assert_eq!(client.end(&gate, id).await, End::Said("at once".into()));
    assert_eq!(client.cancel(&gate, id).await.unwrap_err()["code"], -32602);
    let listed = client.ask(&gate, "tasks/list", json!({})).await.unwrap();
    assert_eq!(listed["tasks"], json!([created["task"]]));
}

#[tokio::test]
async fn a_tool_that_is_no_task_stays_a_call() {
    for era in ERAS {
        let (gate, _fleet, worker) = gate_before(era).await;
        let client = Client::extension();
        let hinted = json!({ "name": "w__quick", "arguments": {}, "task": { "ttl": 1 } });
        let result = client.ask(&gate, "tools/call", hinted).await.unwrap();
        assert_eq!(result["content"][0]["text"], "at once");
        assert_eq!(result["resultType"], "complete");
        if era == Era::Legacy {
            let seen = worker.seen.lock().unwrap();
            let call = seen.iter().find(|message| message["method"] == "tools/call").unwrap();
            assert_eq!(call["params"].get("task"), None, "the older wish means nothing");
        }
    }
}

#[tokio::test]
async fn each_form_has_its_own_methods() {
    let (gate, _fleet, worker) = gate_before(Era::Modern).await;
    let code = |answer: Result<Value, Value>| answer.unwrap_err()["code"].as_i64().unwrap();
    let params = || json!({ "taskId": "none", "inputResponses": {} });
    let (old, new) = (Client::session(), Client::extension());
    let none = Client::new(Revision::V2026_07_28, json!({}));
    let before = Client::new(Revision::V2025_06_18, json!({}));
    for method in ["tasks/result", "tasks/list"] {
        assert_eq!(code(new.ask(&gate, method, params()).await), -32601, "{method}");
        assert_eq!(code(none.ask(&gate, method, params()).await), -32601, "{method}");
    }
    assert_eq!(code(old.ask(&gate, "tasks/update", params()).await), -32601);
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        assert_eq!(code(new.ask(&gate, method, params()).await), -32602, "{method}");
        let refused = none.ask(&gate, method, params()).await.unwrap_err();
        assert_eq!(refused["code"], -32021, "{method}");
        let required = &refused["data"]["requiredCapabilities"]["extensions"];
        assert_eq!(*required, json!({ super::worker::EXTENSION: {} }));
    }
    assert_eq!(code(before.ask(&gate, "tasks/get", params()).await), -32601);
    let asked = ["tasks/get", "tasks/update", "tasks/cancel"].map(|method| worker.count(method));
    assert_eq!(asked, [0, 0, 0], "no server was asked after a task it does not have");
}

#[tokio::test]
async fn only_callers_of_2025_11_25_see_that_tools_of_a_modern_server_may_be_tasks() {
    let (gate, _fleet, _worker) = gate_before(Era::Modern).await;
    for (revision, expected) in [
        (Revision::V2025_11_25, json!({ "taskSupport": "optional" })),
        (Revision::V2025_06_18, Value::Null),
        (Revision::V2026_07_28, Value::Null),
    ] {
        let client = Client::new(revision, json!({}));
        let list = gate.list(CapabilityKind::Tool, &client.caller).await;
        let list: Value = serde_json::from_slice(&list).unwrap();
        for tool in list["tools"].as_array().unwrap() {
            assert_eq!(tool["execution"], expected, "{revision:?}");
        }
    }
}

#[tokio::test]
async fn news_of_a_task_come_in_the_callers_form() {
    for era in ERAS {
        let (gate, _fleet, worker) = gate_before(era).await;
        for client in clients() {
            let id = client.begin(&gate, "idle").await;
            let mut events = gate.events();
            let theirs = if era == Era::Legacy {
                "notifications/tasks/status"
            } else {
                "notifications/tasks"
            };
            worker.notify(theirs, worker.state(&id));
            let (caller, frame) = loop {
                let event = events.recv().await.unwrap();
                if let GateEvent::TaskStatus { caller, frame, .. } = event {
                    break (caller, frame);
                }
            };
            assert_eq!(caller, client.caller.id);
            let told: Value = serde_json::from_slice(frame.bytes()).unwrap();
            let (method, ttl) = match client.caller.revision.era() {
                Era::Legacy => ("notifications/tasks/status", "ttl"),
                Era::Modern => ("notifications/tasks", "ttlMs"),
            };
            assert_eq!((&told["method"], &told["params"][ttl]), (&json!(method), &json!(60000)));
            assert_eq!(
                (&told["params"]["taskId"], &told["params"]["status"]),
                (&json!(id), &json!("working"))
            );
            assert_eq!(told["params"].get("resultType"), None);
        }
    }
}
