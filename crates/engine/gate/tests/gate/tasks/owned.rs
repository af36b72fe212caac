//! Whose a task is, and for how long.

use std::time::Duration;

use serde_json::json;
use toolgate_gate::Principal;
use toolgate_wire::{Era, Revision};

use super::client::{Client, End};
use super::gate_before;

#[tokio::test]
async fn nobody_else_can_touch_or_see_a_task() {
    for era in [Era::Legacy, Era::Modern] {
        let (gate, _fleet, worker) = gate_before(era).await;
        for pair in
            [[Client::session(), Client::session()], [Client::extension(), Client::extension()]]
        {
            let [mine, theirs] = pair;
            let id = mine.begin(&gate, "idle").await;
            assert_eq!(theirs.get(&gate, &id).await.unwrap_err()["code"], -32602);
            assert_eq!(theirs.cancel(&gate, &id).await.unwrap_err()["code"], -32602);
            assert_eq!(worker.state(&id)["status"], "working");
        }
    }
}

#[tokio::test]
async fn a_list_shows_ones_own_tasks_as_they_stand() {
    for era in [Era::Legacy, Era::Modern] {
        let (gate, _fleet, worker) = gate_before(era).await;
        let (mine, theirs) = (Client::session(), Client::session());
        let (one, two) = (mine.begin(&gate, "idle").await, mine.begin(&gate, "idle").await);
        theirs.begin(&gate, "idle").await;
        mine.cancel(&gate, &two).await.unwrap();
        let listed = mine.ask(&gate, "tasks/list", json!({})).await.unwrap();
        let listed = listed["tasks"].as_array().unwrap();
        let shown: Vec<_> = listed.iter().map(|task| (&task["taskId"], &task["status"])).collect();
        assert_eq!(shown, [(&json!(one), &json!("working")), (&json!(two), &json!("cancelled"))]);
        assert_eq!(worker.count("tasks/list"), 0, "the gate knows whose they are");
    }
}

#[tokio::test]
async fn every_visit_of_a_principal_finds_his_tasks() {
    for era in [Era::Legacy, Era::Modern] {
        let (gate, _fleet, _worker) = gate_before(era).await;
        let principal = Principal::from_name(b"somebody");
        let one = Client::extension().of(principal);
        let other = json!({ "extensions": { super::worker::EXTENSION: {} } });
        let other = Client::new(Revision::V2026_07_28, other).of(principal);
        let stranger = Client::extension().of(Principal::from_name(b"somebody else"));
        let id = one.begin(&gate, "result").await;
        gate.release(one.caller.id);
        assert_eq!(stranger.get(&gate, &id).await.unwrap_err()["code"], -32602);
        assert_eq!(other.end(&gate, &id).await, End::Said("done".into()));
    }
}

#[tokio::test]
async fn a_caller_who_stands_for_himself_takes_his_tasks_with_him() {
    let (gate, _fleet, worker) = gate_before(Era::Legacy).await;
    let client = Client::extension();
    let id = client.begin(&gate, "ask").await;
    assert_eq!(client.get(&gate, &id).await.unwrap()["status"], "input_required");
    gate.release(client.caller.id);
    assert_eq!(client.get(&gate, &id).await.unwrap_err()["code"], -32602);
    // Whoever listened for questions in his stead no longer does.
    while worker.count("notifications/cancelled") == 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_is_forgotten_when_its_time_is_over() {
    for era in [Era::Legacy, Era::Modern] {
        let (gate, _fleet, worker) = gate_before(era).await;
        for client in [Client::session(), Client::extension()] {
            let id = client.begin(&gate, "idle").await;
            tokio::time::sleep(Duration::from_secs(59)).await;
            client.get(&gate, &id).await.unwrap();
            tokio::time::sleep(Duration::from_secs(2)).await;
            let looks = worker.count("tasks/get");
            assert_eq!(client.get(&gate, &id).await.unwrap_err()["code"], -32602);
            assert_eq!(worker.count("tasks/get"), looks, "the gate itself has forgotten it");
        }
    }
}
