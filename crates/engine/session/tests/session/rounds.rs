//! Results that ask for more before they can be given.

use bytes::Bytes;
use serde_json::{Value, json};
use toolgate_session::{Answer, QuestionKind, SessionError};

use crate::peer::{call, modern, person, request};

fn asks(requests: Value, state: Option<&str>) -> Value {
    let mut result = json!({ "resultType": "input_required" });
    if !requests.is_null() {
        result["inputRequests"] = requests;
    }
    if let Some(state) = state {
        result["requestState"] = state.into();
    }
    result
}

fn form(message: &str) -> Value {
    let schema = json!({ "type": "object", "properties": {} });
    let params = json!({ "message": message, "requestedSchema": schema });
    json!({ "method": "elicitation/create", "params": params })
}

#[tokio::test]
async fn all_questions_of_a_round_are_asked_together_and_answered_under_their_keys() {
    let (session, mut server, _) = modern(json!({})).await;
    let (caller, mut ears) = person(1);
    let outbound = call(&request(r#","arguments":{"a":1.0}"#), &caller);
    let sampling = json!({ "method": "sampling/createMessage", "params": { "messages": [] } });
    let requests =
        json!({ "na\"me": form("who?"), "r": { "method": "roots/list" }, "s": sampling });
    let served = async {
        let got = server.expect("tools/call").await;
        server.answer(&got, asks(requests, None)).await;
        let mut open = Vec::new();
        for _ in 0..3 {
            open.push(ears.asked.recv().await.unwrap());
        }
        for (question, answer) in open {
            let result: &[u8] = match (question.kind, question.key.as_deref()) {
                (QuestionKind::Form, Some("na\"me")) => {
                    br#"{"action":"accept","content":{"n":1.00}}"#
                }
                (QuestionKind::Roots, Some("r")) => br#"{"roots":[]}"#,
                (QuestionKind::Sampling, Some("s")) => br#"{"role":"assistant"}"#,
                other => panic!("{other:?}"),
            };
            answer.send(Answer::Result(Bytes::from_static(result))).unwrap();
        }
        let line = server.line().await;
        assert!(line.contains(r#"{"action":"accept","content":{"n":1.00}}"#), "{line}");
        let again: Value = serde_json::from_str(&line).unwrap();
        assert_ne!(again["id"], got["id"]);
        assert_eq!(again["params"]["arguments"], got["params"]["arguments"]);
        let keys: Vec<_> = again["params"]["inputResponses"].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["na\"me", "r", "s"]);
        assert_eq!(again["params"].get("requestState"), None);
        server.answer(&again, json!({ "resultType": "complete", "done": true })).await;
    };
    let (answer, ()) = tokio::join!(session.call(&outbound), served);
    assert_eq!(answer.unwrap().result().unwrap(), br#"{"resultType":"complete","done":true}"#);
}

#[tokio::test]
async fn every_round_carries_its_own_answers_and_the_servers_state_byte_for_byte() {
    let (session, mut server, _) = modern(json!({})).await;
    let (caller, mut ears) = person(1);
    let outbound = call(&request(""), &caller);
    let states = [r#""a\u00e9\/b\u2028\ud83d\ude00""#, r#""{\"x\": 1}  \t""#];
    let served = async {
        for (number, state) in states.into_iter().enumerate() {
            let got = server.next().await;
            let result = format!(
                r#"{{"resultType":"input_required","inputRequests":{{"k{number}":{}}},"requestState":{state}}}"#,
                form("?")
            );
            let id = &got["id"];
            server.write(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)).await;
            let (_, answer) = ears.asked.recv().await.unwrap();
            answer.send(Answer::Result(Bytes::from_static(br#"{"action":"cancel"}"#))).unwrap();
            if number == 0 {
                continue;
            }
            let line = server.line().await;
            assert!(line.contains(&format!(r#""requestState":{state}"#)), "{line}");
            let again: Value = serde_json::from_str(&line).unwrap();
            let responses = json!({ "k1": { "action": "cancel" } });
            assert_eq!(again["params"]["inputResponses"], responses);
            server.answer(&again, json!({})).await;
        }
    };
    let (answer, ()) = tokio::join!(session.call(&outbound), served);
    assert_eq!(answer.unwrap().result().unwrap(), b"{}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_only_wants_to_be_called_again_is_after_a_while() {
    let (session, mut server, _) = modern(json!({})).await;
    let (caller, _ears) = person(1);
    let outbound = call(&request(""), &caller);
    let served = async {
        let got = server.next().await;
        let asked = tokio::time::Instant::now();
        server.answer(&got, asks(Value::Null, Some("later"))).await;
        let again = server.next().await;
        assert_eq!(asked.elapsed().as_millis(), 250);
        assert_eq!(again["params"]["requestState"], "later");
        assert_eq!(again["params"].get("inputResponses"), None);
        server.answer(&again, json!({})).await;
    };
    let (answer, ()) = tokio::join!(session.call(&outbound), served);
    answer.unwrap();
}

#[tokio::test]
async fn what_nobody_answers_is_declined_and_what_cannot_be_declined_ends_the_call() {
    let (session, mut server, _) = modern(json!({})).await;
    let (caller, mut ears) = person(1);
    let sampling = json!({ "method": "sampling/createMessage", "params": { "messages": [] } });
    let roots = json!({ "method": "roots/list" });
    let outbound = call(&request(""), &caller);
    let served = async {
        let got = server.next().await;
        server.answer(&got, asks(json!({ "f": form("?"), "r": roots }), None)).await;
        for _ in 0..2 {
            ears.asked.recv().await.unwrap().1.send(Answer::Unsupported).unwrap();
        }
        let again = server.next().await;
        let declined = json!({ "f": { "action": "decline" }, "r": { "roots": [] } });
        assert_eq!(again["params"]["inputResponses"], declined);
        server.answer(&again, asks(json!({ "s": sampling }), None)).await;
        ears.asked.recv().await.unwrap().1.send(Answer::Unsupported).unwrap();
    };
    let (answer, ()) = tokio::join!(session.call(&outbound), served);
    let result: Value = serde_json::from_slice(answer.unwrap().result().unwrap()).unwrap();
    assert_eq!((&result["isError"], &result["resultType"]), (&json!(true), &json!("complete")));
    assert!(result["content"][0]["text"].as_str().unwrap().contains("sampling/createMessage"));
}

#[tokio::test]
async fn a_prompt_that_needs_what_nobody_offers_is_an_error() {
    let (session, mut server, _) = modern(json!({})).await;
    let (caller, _ears) = person(1);
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"p"}}"#;
    let outbound = call(text, &caller);
    let served = async {
        let got = server.next().await;
        server.answer(&got, asks(json!({ "x": { "method": "no/such" } }), None)).await;
    };
    let (answer, ()) = tokio::join!(session.call(&outbound), served);
    let error: Value = serde_json::from_slice(answer.unwrap().error().unwrap()).unwrap();
    assert_eq!(error["code"], -32603);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_for_ever_or_for_nothing_is_given_up() {
    for (state, rounds) in [(Some("s"), 11), (None, 1)] {
        let (session, mut server, _) = modern(json!({})).await;
        let (caller, _ears) = person(1);
        let outbound = call(&request(""), &caller);
        let served = async {
            for _ in 0..rounds {
                let got = server.next().await;
                server.answer(&got, asks(Value::Null, state)).await;
            }
        };
        let (answer, ()) = tokio::join!(session.call(&outbound), served);
        assert!(matches!(answer, Err(SessionError::Protocol(_))));
    }
}

#[tokio::test]
async fn other_kinds_of_results_leave_as_they_are() {
    let (session, mut server, _) = modern(json!({})).await;
    let (caller, _ears) = person(1);
    let outbound = call(&request(""), &caller);
    for kind in ["task", "hologram"] {
        let served = async {
            let got = server.next().await;
            server.answer(&got, json!({ "resultType": kind })).await;
        };
        let (answer, ()) = tokio::join!(session.call(&outbound), served);
        assert_eq!(answer.unwrap().result_type().as_deref(), Some(kind));
    }
}

#[tokio::test]
async fn a_server_that_no_longer_speaks_the_revision_ends_the_session() {
    let (session, mut server, notebook) = modern(json!({})).await;
    let (caller, _ears) = person(1);
    let outbound = call(&request(""), &caller);
    let served = async {
        let got = server.next().await;
        server.refuse(&got, -32022, json!({ "supported": ["2099-01-01"] })).await;
    };
    let (answer, ()) = tokio::join!(session.call(&outbound), served);
    assert!(matches!(&answer, Err(SessionError::Ended(why)) if why.contains("2026-07-28")));
    assert!(session.end_reason().is_some());
    assert_eq!(notebook.read().len(), 1);
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_on_a_pipe_by_its_newest_id() {
    let (session, mut server, _) = modern(json!({})).await;
    let (caller, mut ears) = person(1);
    let outbound = call(&request(""), &caller);
    let served = async {
        let got = server.next().await;
        server.answer(&got, asks(json!({ "f": form("?") }), None)).await;
        ears.asked.recv().await.unwrap().1.send(Answer::Unsupported).unwrap();
        server.next().await
    };
    let again = tokio::select! {
        again = served => again,
        answer = session.call(&outbound) => panic!("{answer:?}"),
    };
    let cancelled = server.expect("notifications/cancelled").await;
    assert_eq!(cancelled["params"]["requestId"], again["id"]);
}
