//! Parked calls: their rounds, and all the ways in which they are rejected or cancelled.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use super::{Stage, asked, call, request, retry};
use crate::tests::lines::Piped;
use crate::{Gateway, Options};

fn accepted() -> Value {
    json!({"q1": {"action": "accept"}})
}

fn parked_count(gateway: &Gateway) -> usize {
    gateway.state.modern.parked_calls.table.lock().parked.len()
}

const ACCEPTED: &str = r#"{"action":"accept"}"#;

/// The message a refused retry gets.
async fn reason(stage: &Stage, message: &Value) -> String {
    let reply = stage.http.say(message).await;
    assert_eq!(reply.status(), 200);
    let answer = reply.json().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&message["id"], &json!(-32602)));
    answer["error"]["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_question_ends_the_exchange_and_its_answer_the_call() {
    let stage = Stage::plain().await;
    let message = asked(1, "ask-and-wait");
    let first = stage.http.result(&message).await;
    assert_eq!(first["resultType"], "input_required");
    let question = json!({"method": "elicitation/create", "params": {"message": "?"}});
    assert_eq!(first["inputRequests"], json!({ "q1": question }));
    let done = stage.http.result(&retry(message, 2, &first, accepted())).await;
    assert_eq!(done["answers"], json!([ACCEPTED]));
    assert_eq!(stage.script.callers.lock().unwrap().len(), 1, "it was run once");
}

#[tokio::test]
async fn questions_asked_together_are_put_together() {
    let stage = Stage::plain().await;
    for (tool, keys) in [("ask-all", ["the-form", "the-sampling"]), ("ask-at-once", ["q1", "q2"])] {
        let message = asked(1, tool);
        let first = stage.http.result(&message).await;
        let requests = first["inputRequests"].as_object().unwrap();
        assert_eq!(requests.keys().collect::<Vec<_>>(), keys, "{tool}");
        let answers = json!({keys[0]: {"a": 1}, keys[1]: {"b": 2}, "nobody's": {"c": 3}});
        let done = stage.http.result(&retry(message, 2, &first, answers)).await;
        assert_eq!(done["answers"], json!([r#"{"a":1}"#, r#"{"b":2}"#]), "{tool}");
    }
}

#[tokio::test]
async fn a_call_may_ask_again_and_again() {
    let stage = Stage::plain().await;
    let message = asked(1, "ask-in-turn");
    let first = stage.http.result(&message).await;
    let second = stage.http.result(&retry(message.clone(), 2, &first, accepted())).await;
    assert_eq!(second["resultType"], "input_required");
    assert_ne!(second["requestState"], first["requestState"]);
    let key = second["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let done = stage.http.result(&retry(message, 3, &second, json!({key: {"n": 2}}))).await;
    assert_eq!(done["answers"], json!([ACCEPTED, r#"{"n":2}"#]));
}

#[tokio::test]
async fn what_is_told_goes_to_the_round_that_is_on() {
    let stage = Stage::plain().await;
    let mut message = asked(1, "ask-then-progress");
    message["params"]["_meta"]["progressToken"] = "first".into();
    let first = stage.http.result(&message).await;
    message["params"]["_meta"]["progressToken"] = json!(2);
    let again = retry(message.clone(), 2, &first, accepted());
    let said = stage.http.say(&again).await.events().rest().await;
    assert_eq!(said[0]["params"], json!({"progressToken": 2, "progress": 2}));
    assert_eq!(said[1]["result"]["answers"], json!([ACCEPTED]));
    let first = stage.http.result(&message).await;
    message["params"]["_meta"].as_object_mut().unwrap().remove("progressToken");
    let done = stage.http.result(&retry(message, 3, &first, accepted())).await;
    assert_eq!(done["answers"], json!([ACCEPTED]), "a round without token hears of no progress");
}

#[tokio::test]
async fn what_is_left_out_is_asked_again() {
    let stage = Stage::plain().await;
    let message = asked(1, "ask-all");
    let first = stage.http.result(&message).await;
    let half = retry(message.clone(), 2, &first, json!({"the-form": {"a": 1}}));
    let second = stage.http.result(&half).await;
    assert_eq!(second["resultType"], "input_required");
    let keys: Vec<_> = second["inputRequests"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["the-sampling"]);
    let rest = retry(message, 3, &second, json!({"the-sampling": {"b": 2}}));
    let done = stage.http.result(&rest).await;
    assert_eq!(done["answers"], json!([r#"{"a":1}"#, r#"{"b":2}"#]));
}

#[tokio::test]
async fn a_client_is_asked_only_what_it_declared_and_where_it_can_be() {
    let stage = Stage::plain().await;
    for kind in ["form", "url", "sampling", "roots"] {
        let message = request(1, "tools/call", json!({"name": "ask", "ask": kind}));
        assert_eq!(stage.http.result(&message).await["answer"], "unsupported", "{kind}");
    }
    let mut message = asked(2, "ask");
    message["params"]["ask"] = "url".into();
    assert_eq!(stage.http.result(&message).await["answer"], "unsupported", "forms only");
    let capabilities = json!({"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}});
    let task =
        request(3, "tasks/get", json!({"taskId": "ask", "ask": "form", "_meta": capabilities}));
    assert_eq!(stage.http.result(&task).await["answer"], "unsupported", "not on this method");
    for method in ["prompts/get", "resources/read"] {
        let mut message = request(4, method, json!({"_meta": capabilities, "ask": "form"}));
        let key = if method == "prompts/get" { "name" } else { "uri" };
        message["params"][key] = "ask".into();
        let first = stage.http.result(&message).await;
        assert_eq!(first["resultType"], "input_required", "{method}");
    }
}

#[tokio::test]
async fn a_call_that_fails_for_want_of_a_capability_says_which() {
    let stage = Stage::plain().await;
    let reply = stage.http.say(&call(1, "samples")).await;
    assert_eq!(reply.status(), 400);
    let error = &reply.json().await["error"];
    let data = json!({"code": "TG-CALL-010", "requiredCapabilities": {"sampling": {}}});
    assert_eq!((&error["code"], &error["data"]), (&json!(-32021), &data));
}

#[tokio::test]
async fn configured_roots_answer_for_every_client() {
    let stage = Stage::plain().await;
    *stage.script.roots.lock().unwrap() = Some(Bytes::from_static(br#"{"roots":[]}"#));
    let message = request(1, "tools/call", json!({"name": "ask", "ask": "roots"}));
    assert_eq!(stage.http.result(&message).await["answer"], r#"{"roots":[]}"#);
}

#[tokio::test]
async fn a_state_leads_to_its_call_once_and_for_its_caller_only() {
    let stage = Stage::plain().await;
    let message = asked(1, "ask-and-wait");
    let first = stage.http.result(&message).await;
    let good = retry(message.clone(), 2, &first, accepted());
    let state = first["requestState"].as_str().unwrap();
    let with_state = |state: &str| {
        let mut other = good.clone();
        other["params"]["requestState"] = state.into();
        other
    };
    for tampered in [&format!("{state}-TAMPERED"), &state[1..], "", "nonsense"] {
        assert!(reason(&stage, &with_state(tampered)).await.contains("nothing was run again"));
    }
    let mut changed = good.clone();
    changed["params"]["arguments"] = json!({"more": 1});
    assert!(reason(&stage, &changed).await.contains("another request"));
    let mut renamed = good.clone();
    renamed["params"]["name"] = "echo".into();
    assert!(reason(&stage, &renamed).await.contains("another request"));
    let other = stage.http.with("authorization", &stage.script.key("other").await);
    let refused = other.say(&good).await.json().await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("another caller"));
    let refused = stage.http.at("/mcp/reader").say(&good).await.json().await;
    let told = refused["error"]["message"].as_str().unwrap();
    assert!(told.contains("another caller"), "the same principal with another profile: {told}");
    for malformed in [json!(null), json!([]), json!({"q1": 7}), json!("x")] {
        let mut other = good.clone();
        other["params"]["inputResponses"] = malformed;
        assert!(reason(&stage, &other).await.contains("inputResponses"));
    }
    let mut number = good.clone();
    number["params"]["requestState"] = json!(7);
    assert!(reason(&stage, &number).await.contains("requestState"));
    assert_eq!(stage.http.result(&good).await["answers"], json!([ACCEPTED]), "none of it hurt");
    assert!(reason(&stage, &good).await.contains("no longer waiting; it was not run again"));
    assert_eq!(stage.script.callers.lock().unwrap().len(), 1, "it was run once");
}

#[tokio::test]
async fn a_state_of_another_process_is_refused() {
    let (before, after) = (Stage::plain().await, Stage::plain().await);
    let message = asked(1, "ask-and-wait");
    let first = before.http.result(&message).await;
    let reason = reason(&after, &retry(message, 2, &first, accepted())).await;
    assert!(reason.contains("nothing was run again"));
    assert!(after.script.callers.lock().unwrap().is_empty());
}

#[tokio::test]
async fn answers_without_a_state_find_the_call_that_waits_or_begin_one() {
    let stage = Stage::plain().await;
    let message = asked(1, "ask-all");
    let mut knowing = message.clone();
    knowing["params"]["inputResponses"] = json!({"the-form": {"a": 1}, "x": {}});
    let first = stage.http.result(&knowing).await;
    let keys: Vec<_> = first["inputRequests"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["the-sampling"], "one answer was known beforehand");
    knowing["params"]["inputResponses"] = json!({"the-sampling": {"b": 2}});
    let done = stage.http.result(&knowing).await;
    assert_eq!(done["answers"], json!([r#"{"a":1}"#, r#"{"b":2}"#]));
    assert_eq!(stage.script.callers.lock().unwrap().len(), 1, "what waited was not run again");
    let mut needless = call(2, "echo");
    needless["params"]["inputResponses"] = json!({});
    let echoed = stage.http.result(&needless).await;
    assert!(echoed.get("inputResponses").is_none(), "servers do not see them");
}

#[tokio::test]
async fn a_retry_that_brings_no_answers_is_asked_again() {
    let stage = Stage::plain().await;
    let message = asked(1, "ask-and-wait");
    let first = stage.http.result(&message).await;
    let again = stage.http.result(&retry(message, 2, &first, json!({}))).await;
    assert_eq!(again["inputRequests"], first["inputRequests"]);
    assert_ne!(again["requestState"], first["requestState"]);
}

#[tokio::test]
async fn a_retry_that_hangs_up_has_cancelled_and_the_first_exchange_has_not() {
    let stage = Stage::plain().await;
    let message = asked(1, "ask-then-wait");
    // A connection per request: the first is closed as soon as the question was read.
    let first = stage.http.result(&message).await;
    let http = stage.http.clone();
    let again = retry(message, 2, &first, accepted());
    let waiting = tokio::spawn(async move { http.say(&again).await.bytes().await });
    stage.script.begun.notified().await;
    waiting.abort();
    assert!(waiting.await.is_err());
    stage.script.dropped.notified().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_comes_back_costs_nothing_in_the_end() {
    let park = Duration::from_secs(60);
    let mut client = Piped::new(Options { park_timeout: park, ..Options::default() });
    let message = asked(1, "ask-and-wait");
    client.send(message.clone()).await;
    let first = client.next().await["result"].clone();
    tokio::time::sleep(park - Duration::from_secs(1)).await;
    assert_eq!(parked_count(&client.gateway), 1);
    client.script.dropped.notified().await;
    client.send(retry(message, 2, &first, accepted())).await;
    let refused = client.next().await;
    assert_eq!(refused["error"]["code"], -32602);
    assert!(refused["error"]["message"].as_str().unwrap().contains("expired"));
    assert_eq!(parked_count(&client.gateway), 0);
    assert_eq!(client.script.callers.lock().unwrap().len(), 1, "it was not run again");
}

#[tokio::test]
async fn no_more_calls_are_parked_than_there_is_room() {
    let stage = Stage::plain().await;
    let named = |client: &str| {
        let mut message = asked(1, "ask-and-wait");
        let client = json!({"name": client, "version": "1"});
        message["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = client;
        message
    };
    for client in ["one", "two"] {
        for _ in 0..16 {
            let first = stage.http.result(&named(client)).await;
            assert_eq!(first["resultType"], "input_required");
        }
    }
    for full in ["one", "three"] {
        let reply = stage.http.result(&named(full)).await;
        assert_eq!(reply["answers"], json!(["unsupported"]), "the call goes on without");
    }
    let other = stage.http.with("authorization", &stage.script.key("other").await);
    for _ in 0..16 {
        let first = other.result(&named("one")).await;
        assert_eq!(first["resultType"], "input_required", "others have their own room");
    }
    let reply = other.result(&named("two")).await;
    assert_eq!(reply["answers"], json!(["unsupported"]), "the server's places are for all");
}

#[tokio::test]
async fn the_end_of_the_gateway_ends_what_is_parked() {
    let mut stage = Stage::plain().await;
    stage.http.result(&asked(1, "ask-and-wait")).await;
    stage.end();
    stage.script.dropped.notified().await;
    stage.serving.await.unwrap().unwrap();
    assert_eq!(stage.script.released.lock().unwrap().len(), 1);
}
