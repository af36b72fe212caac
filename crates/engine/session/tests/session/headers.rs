//! Modern HTTP: what headers say, how calls end, and what is never sent.

use bytes::Bytes;
use serde_json::{Value, json};
use toolgate_model::CapabilityKind;
use toolgate_session::{OutboundRequest, Session, SessionError};

use crate::http::{HttpServer, modern_on_http};
use crate::peer::{Ears, call, person, request};

fn tool(name: &str, mark: &str) -> Value {
    let region = json!({ "type": "string", "x-mcp-header": mark });
    let schema = json!({ "type": "object", "properties": { "region": region } });
    json!({ "name": name, "inputSchema": schema })
}

/// Lists the server's tools; gives their names.
async fn list(session: &Session, server: &mut HttpServer, tools: Value) -> Vec<String> {
    let served = async {
        let asked = server.expect("tools/list").await;
        assert_eq!(asked.header("mcp-method"), Some("tools/list"));
        assert_eq!(asked.header("mcp-name"), None);
        let meta = &asked.json()["params"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        asked.answer(json!({ "resultType": "complete", "tools": tools, "ttlMs": 5 })).await;
    };
    let (list, ()) = tokio::join!(session.list(CapabilityKind::Tool), served);
    list.unwrap().into_iter().map(|tool| tool.name.to_string()).collect()
}

fn outbound(text: &str) -> (OutboundRequest, Ears) {
    let (caller, ears) = person(1);
    (call(text, &caller), ears)
}

#[tokio::test]
async fn headers_repeat_revision_method_and_the_servers_own_name() {
    let (session, mut server, _, _) = modern_on_http(json!({})).await;
    let get = |method: &str, key: &str, name: &str| {
        let params = json!({ key: name });
        json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
    };
    for (text, rename, name) in [
        (request(""), None, Some("work")),
        (request(""), Some("\"raw\""), Some("raw")),
        (request(""), Some("\"Z\u{fc}rich\""), Some("=?base64?WsO8cmljaA==?=")),
        (get("prompts/get", "name", " p"), None, Some("=?base64?IHA=?=")),
        (get("resources/read", "uri", "file:///a b"), None, Some("file:///a b")),
        (get("tasks/get", "taskId", "t-1"), None, Some("t-1")),
        (get("completion/complete", "x", "y"), None, None),
    ] {
        let (mut outbound, _ears) = outbound(&text);
        outbound.rename = rename
            .map(|raw| (outbound.frame.name_span().unwrap(), Bytes::from_static(raw.as_bytes())));
        let served = async {
            let asked = server.next().await;
            assert_eq!(asked.header("mcp-protocol-version"), Some("2026-07-28"));
            assert_eq!(asked.header("mcp-method"), asked.json()["method"].as_str());
            assert_eq!(asked.header("mcp-name"), name);
            assert_eq!(asked.header("mcp-session-id"), None);
            let accept = asked.header("accept").unwrap();
            assert!(accept.contains("application/json") && accept.contains("text/event-stream"));
            asked.answer(json!({ "resultType": "complete" })).await;
        };
        let (answer, ()) = tokio::join!(session.call(&outbound), served);
        answer.unwrap();
    }
}

#[tokio::test]
async fn marked_arguments_are_repeated_and_tools_with_bad_marks_left_out() {
    let (session, mut server, _, _) = modern_on_http(json!({})).await;
    let tools = json!([tool("work", "Region"), tool("bad", "No Token"), { "name": "plain" }]);
    assert_eq!(list(&session, &mut server, tools).await, ["work", "plain"]);
    for (arguments, expected) in [
        (r#"{"region":"eu"}"#, Some("eu")),
        (r#"{"region":"Zürich"}"#, Some("=?base64?WsO8cmljaA==?=")),
        (r#"{"region":null}"#, None),
        ("{}", None),
    ] {
        let (outbound, _ears) = outbound(&request(&format!(r#","arguments":{arguments}"#)));
        let served = async {
            let asked = server.expect("tools/call").await;
            assert_eq!(asked.header("mcp-param-region"), expected);
            asked.answer(json!({})).await;
        };
        let (answer, ()) = tokio::join!(session.call(&outbound), served);
        answer.unwrap();
    }
}

#[tokio::test]
async fn headers_that_do_not_fit_are_learnt_anew_once() {
    for stubborn in [false, true] {
        let (session, mut server, _, _) = modern_on_http(json!({})).await;
        list(&session, &mut server, json!([tool("work", "Old")])).await;
        let (outbound, _ears) = outbound(&request(r#","arguments":{"region":"eu"}"#));
        let served = async {
            let asked = server.expect("tools/call").await;
            assert_eq!(asked.header("mcp-param-old"), Some("eu"));
            asked.refuse(400, -32020, json!(null)).await;
            let listed = server.expect("tools/list").await;
            listed.answer(json!({ "tools": [tool("work", "New")] })).await;
            let again = server.expect("tools/call").await;
            assert_eq!(again.header("mcp-param-old"), None);
            assert_eq!(again.header("mcp-param-new"), Some("eu"));
            match stubborn {
                true => again.refuse(400, -32020, json!(null)).await,
                false => again.answer(json!({})).await,
            }
        };
        let (answer, ()) = tokio::join!(session.call(&outbound), served);
        match stubborn {
            true => assert!(matches!(answer, Err(SessionError::Protocol(_)))),
            false => assert!(answer.is_ok()),
        }
    }
}

#[tokio::test]
async fn a_dropped_call_closes_its_connection_and_says_nothing_else() {
    for begun in [false, true] {
        let (session, mut server, _, _) = modern_on_http(json!({})).await;
        let (outbound, _ears) = outbound(&request(""));
        let served = async {
            let asked = server.expect("tools/call").await;
            match begun {
                true => Err(asked.stream().await),
                false => Ok(asked),
            }
        };
        let open = tokio::select! {
            biased;
            _ = session.call(&outbound) => panic!("answered"),
            open = served => open,
        };
        match open {
            Ok(asked) => asked.closed().await,
            Err(stream) => stream.closed().await,
        }
        // The next request is the next call, on another connection.
        let served = async { server.expect("tools/call").await.answer(json!({})).await };
        let (answer, ()) = tokio::join!(session.call(&outbound), served);
        answer.unwrap();
    }
}

#[tokio::test]
async fn a_stream_that_breaks_has_lost_its_call_and_is_not_taken_up_again() {
    let (session, mut server, _, _) = modern_on_http(json!({})).await;
    let (outbound, _ears) = outbound(&request(""));
    let served = async { drop(server.expect("tools/call").await.stream().await) };
    let (answer, ()) = tokio::join!(session.call(&outbound), served);
    assert!(matches!(answer, Err(SessionError::Ended(_) | SessionError::Transport(_))));
    session.close().await;
    let served = async { server.expect("tools/call").await.answer(json!({})).await };
    let (answer, ()) = tokio::join!(session.call(&outbound), served);
    answer.unwrap();
}

#[tokio::test]
async fn errors_come_with_any_status_and_even_without_an_id() {
    let (session, mut server, _, _) = modern_on_http(json!({})).await;
    let (outbound, _ears) = outbound(&request(""));
    for (status, body) in [
        (404, r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"m"}}"#),
        (400, r#"{"jsonrpc":"2.0","error":{"code":-32601,"message":"m"}}"#),
        (200, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"m"}}"#),
    ] {
        let served = async {
            let asked = server.expect("tools/call").await;
            let id = asked.json()["id"].clone();
            asked.reply(status, &body.replace("ID", &id.to_string())).await;
            id
        };
        let (answer, id) = tokio::join!(session.call(&outbound), served);
        let answer: Value = serde_json::from_slice(answer.unwrap().bytes()).unwrap();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(-32601)));
    }
    let served = async { server.next().await.reply(502, "bad gateway").await };
    let (answer, ()) = tokio::join!(session.call(&outbound), served);
    assert!(matches!(answer, Err(SessionError::Status { status: 502, .. })));
}
