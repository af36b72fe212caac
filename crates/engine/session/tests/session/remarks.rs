//! Notifications of the server: to whom they are told.

use serde_json::{Value, json};

use crate::peer::{call, connected, person, request};

/// A log line, and a notification nobody here knows.
fn remarks() -> [Value; 2] {
    let log = json!({ "level": "info", "data": "hello" });
    [
        json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": log }),
        json!({ "jsonrpc": "2.0", "method": "notifications/hologram", "params": { "n": 1 } }),
    ]
}

#[tokio::test]
async fn a_remark_belongs_to_the_only_call_or_to_nobody() {
    for remark in remarks() {
        let (session, mut server, notebook) = connected().await;
        let (caller, mut ears) = person(1);
        server.send(remark.clone()).await;
        while notebook.read().is_empty() {
            tokio::task::yield_now().await;
        }
        let outbound = call(&request(""), &caller);
        let served = async {
            let got = server.next().await;
            server.send(remark.clone()).await;
            server.answer(&got, json!({})).await;
        };
        let (answer, ()) = tokio::join!(session.call(&outbound), served);
        answer.unwrap();
        assert_eq!(ears.heard.recv().await.unwrap(), remark);
        assert_eq!(notebook.read().len(), 1, "told twice: {:?}", notebook.read());
    }
}

#[tokio::test]
async fn a_remark_amid_several_calls_is_told_to_none_of_them() {
    for remark in remarks() {
        let (session, mut server, notebook) = connected().await;
        let (one, mut ears_one) = person(1);
        let (two, mut ears_two) = person(2);
        let (first, second) = (call(&request(""), &one), call(&request(""), &two));
        let served = async {
            let requests = [server.next().await, server.next().await];
            server.send(remark.clone()).await;
            for request in &requests {
                server.answer(request, json!({})).await;
            }
        };
        let (one, two, ()) = tokio::join!(session.call(&first), session.call(&second), served);
        one.unwrap();
        two.unwrap();
        assert!(ears_one.heard.try_recv().is_err() && ears_two.heard.try_recv().is_err());
        assert_eq!(notebook.read(), [remark["method"].as_str().unwrap()]);
    }
}

#[tokio::test]
async fn a_changed_resource_and_a_tasks_status_are_never_a_calls_own() {
    let (session, mut server, notebook) = connected().await;
    let (caller, mut ears) = person(1);
    let outbound = call(&request(""), &caller);
    let methods = ["notifications/resources/updated", "notifications/tasks/status"];
    let served = async {
        let got = server.next().await;
        for method in methods {
            server.send(json!({ "jsonrpc": "2.0", "method": method, "params": {} })).await;
        }
        server.answer(&got, json!({})).await;
    };
    let (answer, ()) = tokio::join!(session.call(&outbound), served);
    answer.unwrap();
    assert!(ears.heard.try_recv().is_err());
    assert_eq!(notebook.read(), methods);
}
