//! What belongs to one caller: tasks, subscriptions, servers of his own.

use serde_json::json;
use toolgate_model::{PoolScope, PrefixMode};
use toolgate_wire::view::LogLevel;

use crate::fleet::{Played, caller, empty, enlist, gate, pass};

fn tasked() -> Played {
    let capabilities = json!({ "tools": {}, "tasks": { "requests": { "tools": { "call": {} } } } });
    Played::new(capabilities, |method, params| match method {
        "tools/list" => json!({ "tools": [{ "name": "work", "inputSchema": {} }] }),
        "tools/call" => {
            json!({ "task": { "taskId": params["arguments"]["id"], "status": "working" } })
        }
        "tasks/get" => json!({ "taskId": params["taskId"], "status": "completed" }),
        _ => json!({}),
    })
}

#[tokio::test]
async fn a_task_is_its_callers_own() {
    let (gate, _fleet) = gate(&[("s", &tasked())], PrefixMode::default()).await;
    let (me, they) = (caller(), caller());
    for (who, id) in [(&me, "mine"), (&they, "theirs")] {
        let params = json!({ "name": "s__work", "arguments": { "id": id }, "task": {} });
        pass(&gate, who, "tools/call", params).await.unwrap();
    }
    let got = pass(&gate, &me, "tasks/get", json!({ "taskId": "mine" })).await.unwrap();
    assert_eq!(got["status"], "completed");
    let refused = pass(&gate, &me, "tasks/get", json!({ "taskId": "theirs" })).await;
    assert_eq!(refused.unwrap_err().rpc_code, -32602);
    let listed = pass(&gate, &me, "tasks/list", json!({})).await.unwrap();
    assert_eq!(listed, json!({ "tasks": [{ "taskId": "mine", "status": "completed" }] }));
    gate.release(me.id);
    assert!(pass(&gate, &me, "tasks/get", json!({ "taskId": "mine" })).await.is_err());
}

fn watched() -> Played {
    let capabilities = json!({ "resources": { "subscribe": true } });
    Played::new(capabilities, |method, _| match method {
        "resources/list" => json!({ "resources": [{ "uri": "x://w", "name": "w" }] }),
        "resources/templates/list" => json!({ "resourceTemplates": [] }),
        _ => json!({}),
    })
}

#[tokio::test]
async fn the_server_hears_of_the_last_unsubscription_only() {
    let server = watched();
    let (gate, _fleet) = gate(&[("s", &server)], PrefixMode::default()).await;
    let (one, two) = (caller(), caller());
    for who in [&one, &two] {
        pass(&gate, who, "resources/subscribe", json!({ "uri": "x://w" })).await.unwrap();
    }
    pass(&gate, &one, "resources/unsubscribe", json!({ "uri": "x://w" })).await.unwrap();
    assert_eq!(server.count("resources/unsubscribe"), 0);
    gate.release(two.id);
    while server.count("resources/unsubscribe") == 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn the_server_is_asked_for_the_most_talkative_level() {
    let server =
        Played::new(json!({ "logging": {}, "extensions": { "a/b": {} } }), |_, _| json!({}));
    let (gate, _fleet) = gate(&[("s", &server)], PrefixMode::default()).await;
    let levels = || -> Vec<String> {
        let seen = server.seen.lock().unwrap();
        let asked = seen.iter().filter(|message| message["method"] == "logging/setLevel");
        asked.map(|message| message["params"]["level"].as_str().unwrap().to_owned()).collect()
    };
    let (one, two) = (caller(), caller());
    gate.set_level(one.id, LogLevel::Warning);
    gate.set_level(two.id, LogLevel::Error);
    gate.set_level(two.id, LogLevel::Debug);
    while levels().len() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(levels(), ["warning", "debug"]);
}

#[tokio::test]
async fn a_server_of_ones_own_is_connected_per_caller_and_goes_with_him() {
    let server = Played::new(json!({ "tools": {} }), |method, _| match method {
        "tools/list" => json!({ "tools": [{ "name": "t", "inputSchema": {} }] }),
        _ => json!({ "content": [] }),
    });
    let (gate, fleet) = empty(PrefixMode::default());
    enlist(&fleet, "s", &server, PoolScope::PerCaller).await;
    fleet.wait_settled(|_| true).await;
    assert_eq!(server.connections(), 1);
    let (one, two) = (caller(), caller());
    for who in [&one, &two, &one] {
        pass(&gate, who, "tools/call", json!({ "name": "s__t" })).await.unwrap();
    }
    assert_eq!(server.connections(), 3);
    gate.release(one.id);
    pass(&gate, &two, "tools/call", json!({ "name": "s__t" })).await.unwrap();
    assert_eq!(server.connections(), 3);
}
