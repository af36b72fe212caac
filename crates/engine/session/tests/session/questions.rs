//! Questions of the server: who answers them, and what happens to those nobody waits for.

use bytes::Bytes;
use serde_json::{Value, json};
use toolgate_session::{Answer, CallerId, QuestionKind, SessionError};

use crate::peer::{TIMEOUTS, call, connected, person, request};

fn elicit(id: u64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create",
        "params": { "message": "name?", "requestedSchema": { "type": "object" } } })
}

#[tokio::test]
async fn a_question_during_a_call_is_the_callers() {
    let (session, mut server, _) = connected().await;
    let (caller, mut ears) = person(1);
    let outbound = call(&request(""), &caller);
    let served = async {
        let got = server.next().await;
        server.send(elicit(70)).await;
        let (question, answer) = ears.asked.recv().await.unwrap();
        assert_eq!(question.kind, QuestionKind::Form);
        assert_eq!(question.server.as_str(), "played");
        answer.send(Answer::Result(Bytes::from_static(br#"{"action":"accept"}"#))).unwrap();
        let answered = server.next().await;
        assert_eq!(answered["id"], 70);
        assert_eq!(answered["result"], json!({ "action": "accept" }));
        server.answer(&got, json!({})).await;
    };
    let (answer, ()) = tokio::join!(session.call(&outbound), served);
    answer.unwrap();
}

#[tokio::test]
async fn outside_any_call_roots_are_told_and_the_rest_declined() {
    let (_session, mut server, _) = connected().await;
    server.send(json!({ "jsonrpc": "2.0", "id": "r", "method": "roots/list" })).await;
    let roots = server.next().await;
    assert_eq!(roots["id"], "r");
    assert_eq!(roots["result"]["roots"][0]["uri"], "file:///configured");
    server.send(elicit(1)).await;
    assert_eq!(server.next().await["result"]["action"], "decline");
    server.send(json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" })).await;
    assert_eq!(server.next().await["result"], json!({}));
    server.send(json!({ "jsonrpc": "2.0", "id": 3, "method": "no/such" })).await;
    assert_eq!(server.next().await["error"]["code"], -32601);
}

#[tokio::test]
async fn a_question_is_never_shown_to_another_callers_client() {
    let (session, mut server, _) = connected().await;
    let (one, mut ears_one) = person(1);
    let (two, mut ears_two) = person(2);
    let (first, second) = (call(&request(""), &one), call(&request(""), &two));
    let served = async {
        let asking = server.next().await;
        let other = server.next().await;
        server.send(elicit(5)).await;
        tokio::task::yield_now().await;
        assert!(ears_one.asked.try_recv().is_err() && ears_two.asked.try_recv().is_err());
        server.answer(&other, json!({ "of": "the other" })).await;
        let (_, answer) = ears_one.asked.recv().await.unwrap();
        answer.send(Answer::Result(Bytes::from_static(br#"{"action":"decline"}"#))).unwrap();
        assert_eq!(server.next().await["id"], 5);
        server.answer(&asking, json!({})).await;
        assert!(ears_two.asked.try_recv().is_err());
    };
    let (one, two, ()) = tokio::join!(session.call(&first), session.call(&second), served);
    one.unwrap();
    two.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_question_that_stays_unclear_is_refused_when_a_call_it_may_belong_to_is_given_up() {
    let (session, mut server, _) = connected().await;
    let (one, _ears_one) = person(1);
    let (two, _ears_two) = person(2);
    let (three, _ears_three) = person(3);
    let (first, second) = (call(&request(""), &one), call(&request(""), &two));
    let third = call(&request(r#","arguments":3"#), &three);
    let began = tokio::time::Instant::now();
    let served = async {
        server.next().await;
        server.next().await;
        server.send(elicit(5)).await;
        while !session.is_asking_other_scope(&*three) {
            tokio::task::yield_now().await;
        }
        let (later, mut refused) = (session.call(&third), false);
        let answered = async {
            loop {
                let message = server.next().await;
                refused |= message["id"] == 5 && message["error"].is_object();
                if message["params"]["arguments"] == 3 {
                    return server.answer(&message, json!({})).await;
                }
            }
        };
        tokio::join!(later, answered).0.unwrap();
        assert!(refused);
    };
    let (one, two, ()) = tokio::join!(session.call(&first), session.call(&second), served);
    for call in [one, two] {
        assert!(matches!(call, Err(SessionError::TimedOut(_))), "{call:?}");
    }
    assert_eq!(Some(began.elapsed()), TIMEOUTS.call);
}

#[tokio::test]
async fn an_open_question_keeps_other_scopes_off_the_pipe() {
    let (session, mut server, _) = connected().await;
    let (caller, mut ears) = person(1);
    let (other, _ears) = person(2);
    let outbound = call(&request(""), &caller);
    let served = async {
        let got = server.next().await;
        assert!(!session.is_asking_other_scope(&*other));
        server.send(elicit(9)).await;
        let (_, answer) = ears.asked.recv().await.unwrap();
        assert!(session.is_asking_other_scope(&*other) && !session.is_asking_other_scope(&*caller));
        answer.send(Answer::Result(Bytes::from_static(b"{}"))).unwrap();
        session.wait_until_suited(CallerId(2)).await;
        server.next().await;
        server.answer(&got, json!({})).await;
    };
    let (answer, ()) = tokio::join!(session.call(&outbound), served);
    answer.unwrap();
}

#[tokio::test]
async fn a_question_the_server_takes_back_is_dropped() {
    let (session, mut server, _) = connected().await;
    let (caller, mut ears) = person(1);
    let outbound = call(&request(""), &caller);
    let served = async {
        let got = server.next().await;
        server.send(elicit(9)).await;
        let (_, mut answer) = ears.asked.recv().await.unwrap();
        server
            .send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": { "requestId": 9 } }))
            .await;
        answer.closed().await;
        server.answer(&got, json!({})).await;
    };
    let (answer, ()) = tokio::join!(session.call(&outbound), served);
    answer.unwrap();
}

#[tokio::test]
async fn a_call_that_ends_takes_its_questions_with_it() {
    let (session, mut server, _) = connected().await;
    let (caller, mut ears) = person(1);
    let outbound = call(&request(""), &caller);
    let served = async {
        let got = server.next().await;
        server.send(elicit(9)).await;
        let (_, mut answer) = ears.asked.recv().await.unwrap();
        server.answer(&got, json!({})).await;
        answer.closed().await;
    };
    let (answer, ()) = tokio::join!(session.call(&outbound), served);
    answer.unwrap();
}

#[tokio::test]
async fn addresses_that_must_be_visited_are_visited_and_the_call_repeated() {
    let (session, mut server, notebook) = connected().await;
    let (caller, mut ears) = person(1);
    let outbound = call(&request(""), &caller);
    let demand = json!({ "mode": "url", "url": "https://example.com/", "elicitationId": "e1",
        "message": "log in" });
    let served = async {
        let got = server.next().await;
        server
            .send(json!({ "jsonrpc": "2.0", "id": got["id"], "error": { "code": -32042,
            "message": "visit", "data": { "elicitations": [demand] } } }))
            .await;
        let (question, answer) = ears.asked.recv().await.unwrap();
        assert_eq!(question.kind, QuestionKind::Url);
        answer.send(Answer::Result(Bytes::from_static(br#"{"action":"accept"}"#))).unwrap();
        server
            .send(json!({ "jsonrpc": "2.0", "method": "notifications/elicitation/complete",
            "params": { "elicitationId": "e1" } }))
            .await;
        let again = server.expect("tools/call").await;
        assert_ne!(again["id"], got["id"]);
        server.answer(&again, json!({ "done": true })).await;
    };
    let (answer, ()) = tokio::join!(session.call(&outbound), served);
    assert_eq!(answer.unwrap().result().unwrap(), br#"{"done":true}"#);
    assert_eq!(notebook.read(), ["notifications/elicitation/complete"]);
}

#[tokio::test]
async fn a_refused_address_leaves_the_servers_error_to_the_caller() {
    let (session, mut server, _) = connected().await;
    let (caller, mut ears) = person(1);
    let outbound = call(&request(""), &caller);
    let demand = json!({ "mode": "url", "url": "https://example.com/", "elicitationId": "e1" });
    let served = async {
        let got = server.next().await;
        server
            .send(json!({ "jsonrpc": "2.0", "id": got["id"], "error": { "code": -32042,
            "message": "visit", "data": { "elicitations": [demand] } } }))
            .await;
        let (_, answer) = ears.asked.recv().await.unwrap();
        answer.send(Answer::Unsupported).unwrap();
    };
    let (answer, ()) = tokio::join!(session.call(&outbound), served);
    let error: Value = serde_json::from_slice(answer.unwrap().error().unwrap()).unwrap();
    assert_eq!(error["code"], -32042);
}
