//! How long and how much may be waited for, and what goes on meanwhile.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use toolgate_gate::GatewaySettings;
use toolgate_model::{PoolScope, PrefixMode, Profile, ServerTimeouts};
use toolgate_wire::{Era, Revision};

use super::client::{Client, End};
use super::worker::Worker;
use super::{gate_before, gate_within};
use crate::fleet::{apply_settings, empty, enlist, profiles};

async fn until(reached: impl Fn() -> bool) {
    while !reached() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_outcome_is_waited_for_longer_than_a_server_may_be_silent() {
    let silent =
        ServerTimeouts { call: Some(Duration::from_secs(60)), ..ServerTimeouts::default() };
    let (gate, _fleet, worker) = gate_within(Era::Legacy, silent).await;
    let client = Client::session();
    let id = client.begin(&gate, "idle").await;
    let answer = async {
        until(|| worker.count("tasks/result") > 1).await;
        worker.answered(&id, json!({ "content": { "name": "at last" } }));
    };
    let (end, ()) = tokio::join!(client.end(&gate, &id), answer);
    assert_eq!(end, End::Said("at last".into()));
}

#[tokio::test]
async fn whoever_waits_for_tasks_leaves_the_server_to_others() {
    let (gate, _fleet, worker) = gate_before(Era::Legacy).await;
    let waiting = [
        Client::new(Revision::V2025_06_18, json!({})),
        Client::new(Revision::V2025_06_18, json!({})),
    ];
    let call = |client| Client::call(client, &gate, "w__must", "idle");
    let calls = waiting.iter().flat_map(|client| (0..32).map(move |_| client)).map(call);
    let other = async {
        until(|| worker.count("tasks/get") >= 64).await;
        let client = Client::new(Revision::V2025_06_18, json!({}));
        client.call(&gate, "w__quick", "").await.unwrap()
    };
    tokio::select! {
        _ = join_all(calls) => panic!("they never end"),
        answer = other => assert_eq!(answer["content"][0]["text"], "at once"),
    }
}

#[tokio::test]
async fn who_waits_for_too_many_tasks_can_still_stop_them() {
    let (gate, _fleet, worker) = gate_before(Era::Legacy).await;
    let client = Client::session();
    let id = client.begin(&gate, "idle").await;
    let wait = || client.ask(&gate, "tasks/result", json!({ "taskId": id }));
    let more = async {
        until(|| worker.count("tasks/result") == 128).await;
        let refused = wait().await.unwrap_err();
        assert!(refused["message"].as_str().unwrap().contains("128 tasks"), "{refused}");
        client.cancel(&gate, &id).await.unwrap();
    };
    let (ends, ()) = tokio::join!(join_all((0..128).map(|_| wait())), more);
    assert!(ends.iter().all(Result::is_err), "the task was cancelled");
}

#[tokio::test]
async fn a_server_that_comes_back_is_asked_again_to_report() {
    let (gate, _fleet, worker) = gate_before(Era::Modern).await;
    let client = Client::extension();
    let id = client.begin(&gate, "idle").await;
    let asked = || {
        let seen = worker.seen.lock().unwrap();
        let of_task = |it: &&Value| it["params"]["notifications"]["taskIds"] == json!([id]);
        seen.iter().filter(of_task).count()
    };
    assert!(gate.watch_task(&client.caller, &id));
    until(|| asked() > 0).await;
    worker.hang_up();
    worker.seen.lock().unwrap().clear();
    // The first look may still find the connection that is ending.
    while client.get(&gate, &id).await.is_err() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    until(|| asked() > 0).await;
}

#[tokio::test]
async fn a_task_on_a_server_of_ones_own_holds_its_caller() {
    for (scope, holds) in [(PoolScope::PerCaller, true), (PoolScope::Shared, false)] {
        let (gate, fleet) = empty(PrefixMode::default());
        enlist(&fleet, "w", &Worker::new(Era::Modern, "task"), scope).await;
        fleet.wait_settled(|_| true).await;
        let client = Client::extension();
        assert!(!gate.has_open_tasks(client.caller.id));
        let id = client.begin(&gate, "idle").await;
        assert_eq!(gate.has_open_tasks(client.caller.id), holds, "{scope:?}");
        client.cancel(&gate, &id).await.unwrap();
        client.get(&gate, &id).await.unwrap();
        assert!(!gate.has_open_tasks(client.caller.id), "it has ended");
    }
}

#[tokio::test]
async fn a_long_result_that_is_inlined_is_shown_in_part_and_kept() {
    for era in [Era::Legacy, Era::Modern] {
        let (gate, fleet, _worker) = gate_before(era).await;
        let nothing = Profile { result_limit: Some(0), ..Profile::default() };
        let profiles = profiles([("default", nothing)]);
        let settings = GatewaySettings { profiles, ..GatewaySettings::default() };
        apply_settings(&gate, &fleet, settings).await;
        let client = Client::extension();
        let id = client.begin(&gate, "result").await;
        let task = loop {
            let task = client.get(&gate, &id).await.unwrap();
            if task["status"] == "completed" {
                break task;
            }
            tokio::task::yield_now().await;
        };
        let uri = &task["result"]["_meta"]["dev.toolgate/result"]["uri"];
        assert!(uri.is_string(), "{task}");
        let read = client.ask(&gate, "resources/read", json!({ "uri": uri })).await.unwrap();
        assert_eq!(read["contents"][0]["text"], "done");
    }
}
