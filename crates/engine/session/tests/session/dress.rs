//! What a request wears for the era of its server, and what is not said to which.

use bytes::Bytes;
use serde_json::{Value, json};
use toolgate_session::OutboundRequest;
use toolgate_wire::view::LogLevel;

use crate::http::modern_on_http;
use crate::peer::{call, connected_with, curious, modern, person, request};

/// The `_meta` of a modern client, spelled as no writer of ours would.
const META: &str = r#""_meta": { "io.modelcontextprotocol/protocolVersion" :"2026-07-28","x":1.0,
 "io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}, "progressToken":"p"}"#;

#[tokio::test]
async fn a_modern_request_reaches_a_modern_server_byte_for_byte() {
    let (session, mut server, _) = modern(json!({ "tools": {} })).await;
    let (caller, _ears) = person(1);
    let text = request(&format!(r#","arguments":{{"n":1.00}}, {META}"#)).replace('\n', " ");
    let outbound = call(&text, &caller);
    let span = outbound.frame.name_span().unwrap();
    let outbound =
        OutboundRequest { rename: Some((span, Bytes::from_static(b"\"raw\""))), ..outbound };
    let served = async {
        let line = server.line().await;
        let got: Value = serde_json::from_str(&line).unwrap();
        let id = got["id"].to_string();
        let expected = text
            .replace(r#""id":"c""#, &format!(r#""id":{id}"#))
            .replace(r#""progressToken":"p""#, &format!(r#""progressToken":{id}"#))
            .replace(r#""name":"work""#, r#""name":"raw""#);
        assert_eq!(line, expected);
        let result = r#"{"resultType":"complete","content":[],"n":1e400}"#;
        server.write(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)).await;
        result
    };
    let (answer, result) = tokio::join!(session.call(&outbound), served);
    assert_eq!(answer.unwrap().result().unwrap(), result.as_bytes());
}

#[tokio::test]
async fn a_legacy_request_is_dressed_for_a_modern_server() {
    let (session, mut server, _) = modern(json!({})).await;
    let (caller, mut ears) = curious(LogLevel::Warning);
    let metas = ["", r#","_meta":{"progressToken":7,"k":1}"#, r#","task":{"ttl":1},"_meta":null"#];
    for meta in metas {
        let outbound = call(&request(meta), &caller);
        let served = async {
            let got = server.next().await;
            let worn = &got["params"]["_meta"];
            assert_eq!(worn["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
            assert_eq!(worn["io.modelcontextprotocol/clientInfo"]["name"], "toolgate");
            let declared = &worn["io.modelcontextprotocol/clientCapabilities"];
            assert_eq!(*declared, json!({ "elicitation": { "form": {} } }));
            assert_eq!(worn["io.modelcontextprotocol/logLevel"], "warning");
            assert_eq!(got["params"].get("task"), None);
            if meta.contains("progressToken") {
                assert_eq!((&worn["progressToken"], &worn["k"]), (&got["id"], &json!(1)));
                let progress = json!({ "progressToken": got["id"], "progress": 1 });
                let method = "notifications/progress";
                server
                    .send(json!({ "jsonrpc": "2.0", "method": method, "params": progress }))
                    .await;
            }
            server.answer(&got, json!({})).await;
        };
        let (answer, ()) = tokio::join!(session.call(&outbound), served);
        answer.unwrap();
    }
    assert_eq!(ears.heard.recv().await.unwrap()["params"]["progressToken"], 7);
}

#[tokio::test]
async fn a_modern_request_is_undressed_for_a_legacy_server() {
    let (session, mut server, _) = connected_with("2025-06-18", json!({})).await;
    let (caller, _ears) = person(1);
    let mut shown = Vec::new();
    let bare = r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
    let state = r#","requestState":"s","inputResponses":{}"#;
    for more in [format!(r#"{state},{META}"#), format!("{bare}{state}")] {
        let outbound = call(&request(&more), &caller);
        let served = async {
            let got = server.next().await;
            server.answer(&got, json!({})).await;
            got
        };
        let (answer, got) = tokio::join!(session.call(&outbound), served);
        answer.unwrap();
        shown.push((got["id"].clone(), got["params"].clone()));
    }
    let kept = json!({ "x": 1.0, "progressToken": shown[0].0 });
    assert_eq!(shown[0].1, json!({ "name": "work", "_meta": kept }));
    assert_eq!(shown[1].1, json!({ "name": "work" }));
}

#[tokio::test]
async fn a_legacy_server_is_told_the_level_before_the_call_and_only_when_it_lacks() {
    let (session, mut server, _) = connected_with("2025-06-18", json!({ "logging": {} })).await;
    let levels = [
        (LogLevel::Warning, Some("warning")),
        (LogLevel::Error, None),
        (LogLevel::Debug, Some("debug")),
        (LogLevel::Debug, None),
    ];
    for (level, told) in levels {
        let (caller, _ears) = curious(level);
        let outbound = call(&request(""), &caller);
        let served = async {
            if let Some(told) = told {
                let set = server.expect("logging/setLevel").await;
                assert_eq!(set["params"]["level"], told);
            }
            // The answer to the level need not come first.
            let got = server.expect("tools/call").await;
            server.answer(&got, json!({})).await;
        };
        let (answer, ()) = tokio::join!(session.call(&outbound), served);
        answer.unwrap();
    }
}

#[tokio::test]
async fn a_server_that_does_not_log_is_not_told_a_level() {
    let (session, mut server, _) = connected_with("2025-06-18", json!({})).await;
    let (caller, _ears) = curious(LogLevel::Debug);
    let outbound = call(&request(""), &caller);
    let served = async {
        let got = server.expect("tools/call").await;
        server.answer(&got, json!({})).await;
    };
    let (answer, ()) = tokio::join!(session.call(&outbound), served);
    answer.unwrap();
}

#[tokio::test]
async fn what_modern_servers_no_longer_know_is_not_said_to_them() {
    let (session, mut server, _) = modern(json!({})).await;
    for (method, known) in [
        ("ping", true),
        ("logging/setLevel", true),
        ("resources/subscribe", false),
        ("tasks/list", false),
        ("tasks/result", false),
        ("initialize", false),
    ] {
        let answer = session.request(method, None).await.unwrap();
        assert_eq!(answer.error().is_none(), known, "{method}");
    }
    session.notify("notifications/initialized", None);
    session.notify("notifications/roots/list_changed", None);
    drop(session);
    assert!(server.is_left().await);
}

#[tokio::test]
async fn a_modern_server_must_not_send_requests() {
    let (_session, mut server, _) = modern(json!({})).await;
    for method in ["roots/list", "ping"] {
        server.send(json!({ "jsonrpc": "2.0", "id": 7, "method": method })).await;
        let refused = server.next().await;
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(7), &json!(-32601)));
    }

    let (session, mut server, _, _) = modern_on_http(json!({})).await;
    let (caller, mut ears) = person(1);
    let outbound = call(&request(""), &caller);
    let served = async {
        let mut stream = server.expect("tools/call").await.stream().await;
        stream.send(json!({ "jsonrpc": "2.0", "id": 7, "method": "roots/list" })).await;
        let log = json!({ "level": "info", "data": "hi" });
        stream
            .send(json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": log }))
            .await;
        stream.answer(json!({ "resultType": "complete" })).await;
    };
    let (answer, ()) = tokio::join!(session.call(&outbound), served);
    answer.unwrap();
    assert_eq!(ears.heard.recv().await.unwrap()["method"], "notifications/message");
    assert!(ears.asked.try_recv().is_err());
}
