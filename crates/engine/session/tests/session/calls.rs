//! Calls: what reaches the server, what comes back, and how they end.

use std::time::Duration;

use bytes::Bytes;
use serde_json::json;
use toolgate_session::{OutboundRequest, SessionError};

use crate::peer::{call, connected, connected_on, person, request};

#[tokio::test]
async fn a_call_bears_our_id_and_otherwise_the_callers_bytes() {
    let (session, mut server, _) = connected().await;
    let (caller, _ears) = person(1);
    let text = request(r#","arguments":{"n":1.00,"big":12345678901234567890123},"x":[]"#);
    let outbound = call(&text, &caller);
    let served = async {
        let got = server.next().await;
        server
            .write(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"n":1e400}}}}"#, got["id"]))
            .await;
        got
    };
    let (answer, got) = tokio::join!(session.call(&outbound), served);
    assert_eq!(answer.unwrap().result().unwrap(), br#"{"n":1e400}"#);
    assert!(got["id"].is_u64());
    assert_eq!(got["params"]["x"], json!([]));
}

#[tokio::test]
async fn the_servers_own_name_is_spliced_in() {
    let (session, mut server, _) = connected().await;
    let (caller, _ears) = person(1);
    let outbound = call(&request(""), &caller);
    let span = outbound.frame.name_span().unwrap();
    let outbound =
        OutboundRequest { rename: Some((span, Bytes::from_static(b"\"raw\""))), ..outbound };
    let served = async {
        let got = server.next().await;
        assert_eq!(got["params"]["name"], "raw");
        server.answer(&got, json!({})).await;
    };
    let (answer, ()) = tokio::join!(session.call(&outbound), served);
    answer.unwrap();
}

#[tokio::test]
async fn progress_comes_back_under_the_callers_own_token() {
    let (session, mut server, _) = connected().await;
    let (caller, mut ears) = person(1);
    let outbound = call(&request(r#","_meta":{"progressToken":"mine"}"#), &caller);
    let served = async {
        let got = server.next().await;
        let token = &got["params"]["_meta"]["progressToken"];
        assert!(token.is_u64(), "{got}");
        server
            .send(json!({ "jsonrpc": "2.0", "method": "notifications/progress",
            "params": { "progressToken": token, "progress": 1 } }))
            .await;
        server
            .send(json!({ "jsonrpc": "2.0", "method": "notifications/progress",
            "params": { "progressToken": "mine", "progress": 2 } }))
            .await;
        server.answer(&got, json!({})).await;
    };
    let (answer, ()) = tokio::join!(session.call(&outbound), served);
    answer.unwrap();
    let heard = ears.heard.recv().await.unwrap();
    assert_eq!(heard["params"], json!({ "progressToken": "mine", "progress": 1 }));
    assert!(ears.heard.try_recv().is_err(), "a token that is not ours is nobody's");
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_at_the_server() {
    let (session, mut server, _) = connected().await;
    let (caller, _ears) = person(1);
    let outbound = call(&request(""), &caller);
    let got = tokio::select! {
        answer = session.call(&outbound) => panic!("nobody answers: {answer:?}"),
        got = server.next() => got,
    };
    let cancelled = server.expect("notifications/cancelled").await;
    assert_eq!(cancelled["params"]["requestId"], got["id"]);
}

#[tokio::test(start_paused = true)]
async fn a_silent_call_ends_after_the_idle_time_and_is_cancelled() {
    let (session, mut server, _) = connected().await;
    let (caller, _ears) = person(1);
    let answer = session.call(&call(&request(""), &caller)).await;
    assert!(matches!(answer, Err(SessionError::TimedOut(after)) if after.as_secs() == 10));
    server.expect("tools/call").await;
    server.expect("notifications/cancelled").await;
}

#[tokio::test(start_paused = true)]
async fn progress_keeps_a_call_alive_but_not_for_ever() {
    let (session, mut server, _) = connected().await;
    let (caller, mut ears) = person(1);
    let outbound = call(&request(r#","_meta":{"progressToken":7}"#), &caller);
    let served = async {
        let got = server.next().await;
        for step in 0.. {
            tokio::time::sleep(Duration::from_secs(6)).await;
            server
                .send(json!({ "jsonrpc": "2.0", "method": "notifications/progress",
                "params": { "progressToken": got["id"], "progress": step } }))
                .await;
        }
    };
    let answer = tokio::select! {
        answer = session.call(&outbound) => answer,
        () = served => unreachable!(),
    };
    assert!(matches!(answer, Err(SessionError::TimedOut(after)) if after.as_secs() == 60));
    assert!(std::iter::from_fn(|| ears.heard.try_recv().ok()).count() >= 9);
}

#[tokio::test]
async fn junk_and_strange_ids_harm_no_call() {
    let (session, mut server, _) = connected().await;
    let (caller, _ears) = person(1);
    let outbound = call(&request(""), &caller);
    let served = async {
        let got = server.next().await;
        let id = got["id"].as_u64().unwrap();
        for junk in [
            "not json at all".to_owned(),
            r#"{"level":30,"msg":"a log line"}"#.to_owned(),
            format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{"wrong":"string"}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id}.0,"result":{{"wrong":"float"}}}}"#),
            r#"{"jsonrpc":"2.0","id":999,"result":{}}"#.to_owned(),
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}"#.to_owned(),
        ] {
            server.write(&junk).await;
        }
        server.answer(&got, json!({ "right": true })).await;
        server.answer(&got, json!({ "right": false })).await;
    };
    let (answer, ()) = tokio::join!(session.call(&outbound), served);
    assert_eq!(answer.unwrap().result().unwrap(), br#"{"right":true}"#);
    assert!(session.invalid_lines() >= 2);
}

#[tokio::test]
async fn a_server_that_dies_ends_its_calls_at_once() {
    let (session, mut server, notebook) = connected().await;
    let (caller, _ears) = person(1);
    let outbound = call(&request(""), &caller);
    let died = async {
        server.next().await;
        drop(server);
    };
    let (answer, ()) = tokio::join!(session.call(&outbound), died);
    assert!(matches!(answer, Err(SessionError::Ended(_))));
    assert_eq!(notebook.read(), ["ended: the server closed its output"]);
    assert!(matches!(session.call(&outbound).await, Err(SessionError::Ended(_))));
}

#[tokio::test]
async fn an_answer_beyond_the_limits_fails_its_call_only() {
    let (session, mut server, _) = connected().await;
    let (caller, _ears) = person(1);
    let outbound = call(&request(""), &caller);
    let served = async {
        let got = server.next().await;
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        server.write(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{deep}}}"#, got["id"])).await;
    };
    let (answer, ()) = tokio::join!(session.call(&outbound), served);
    assert!(matches!(answer, Err(SessionError::Wire(_))));
    let served = async {
        let got = server.next().await;
        server.answer(&got, json!({})).await;
    };
    let (answer, ()) = tokio::join!(session.call(&outbound), served);
    answer.unwrap();
}

#[tokio::test]
async fn a_batch_is_taken_apart_in_the_one_revision_that_has_batches() {
    for (revision, taken) in [("2025-03-26", true), ("2025-06-18", false)] {
        let (session, mut server, _) = connected_on(revision).await;
        let (caller, mut ears) = person(1);
        let outbound = call(&request(""), &caller);
        let served = async {
            let got = server.next().await;
            let log = json!({ "jsonrpc": "2.0", "method": "notifications/message",
                "params": { "level": "info", "data": "in a batch" } });
            let answer = json!({ "jsonrpc": "2.0", "id": got["id"], "result": { "n": 1 } });
            server.send(json!([log, { "id": [] }, answer])).await;
            server.answer(&got, json!({ "n": 2 })).await;
        };
        let (answer, ()) = tokio::join!(session.call(&outbound), served);
        let expected = if taken { &br#"{"n":1}"#[..] } else { br#"{"n":2}"# };
        assert_eq!(answer.unwrap().result().unwrap(), expected, "{revision}");
        assert_eq!(ears.heard.try_recv().is_ok(), taken, "{revision}");
    }
}
