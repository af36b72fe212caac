//! Sessions of the legacy revisions: they cannot be chosen, guessed or crossed (T10).

use std::collections::HashSet;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_e2e::gateway::{Gateway, Setup, stdio_entry, testkit};
use toolgate_e2e::http::Endpoint;
use toolgate_e2e::mcp::{REVISION, initialize, post};
use toolgate_e2e::{Client, count};

fn with_fixture() -> (Setup, Gateway) {
    let fixture = testkit("fixture", &["--stdio"]).unwrap();
    let setup = Setup::new(&stdio_entry("fixture", &fixture, &[])).unwrap();
    let gateway = setup.serve().unwrap();
    gateway.client_with(&["fixture__test_slow"]).unwrap();
    (setup, gateway)
}

#[test]
fn an_id_is_minted_by_the_gateway_and_long_enough_not_to_be_guessed() {
    let (_setup, gateway) = with_fixture();
    let ids: HashSet<String> = (0..100).map(|_| gateway.client().unwrap().session).collect();
    assert_eq!(ids.len(), 100);
    for id in &ids {
        assert!(id.len() >= 22, "{id} holds fewer than 128 bits");
        assert!(id.bytes().all(|byte| byte.is_ascii_graphic()), "{id:?}");
    }
}

#[test]
fn a_session_chosen_by_the_client_is_refused() {
    let (_setup, gateway) = with_fixture();
    let endpoint = Endpoint::parse(&gateway.url).unwrap();
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    let chosen = ("Mcp-Session-Id", "11111111111111111111111111111111");
    assert_eq!(post(&endpoint, &[chosen], &ping).unwrap().status, 404);
    assert_eq!(post(&endpoint, &[], &ping).unwrap().status, 400, "no session at all");
    let opened = post(&endpoint, &[chosen], &initialize(REVISION, &json!({}))).unwrap();
    assert_ne!(opened.header("mcp-session-id"), Some(chosen.1), "an id must not be fixed");
}

#[test]
fn an_ended_session_is_gone_and_only_that_one() {
    let (_setup, gateway) = with_fixture();
    let (one, other) = (gateway.client().unwrap(), gateway.client().unwrap());
    let ended = one.endpoint.send("DELETE", &one.headers(), b"").unwrap();
    assert!((200..300).contains(&ended.status), "{}", ended.status);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    assert_eq!(one.post(&ping).unwrap().status, 404);
    assert!(other.request("ping", &json!({})).unwrap().get("result").is_some());
}

#[test]
fn what_one_session_is_told_no_other_hears() {
    let (_setup, gateway) = with_fixture();
    let listener = gateway.client().unwrap();
    let accept = [("Accept", "text/event-stream")];
    let headers: Vec<_> = listener.headers().into_iter().chain(accept).collect();
    let stream = listener.endpoint.send("GET", &headers, b"").unwrap();
    assert_eq!(stream.status, 200);
    let (told, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for event in stream.events().map_while(Result::ok) {
            if told.send(event.data).is_err() {
                break;
            }
        }
    });
    std::thread::scope(|scope| {
        for talker in 0..4 {
            let client = gateway.client().unwrap();
            scope.spawn(move || {
                for round in 0..count(250) {
                    let canary = format!("canary-{talker}-{round}");
                    hears_only_its_own(&client, &canary);
                }
            });
        }
    });
    // The listener's own traffic is the event to wait for: what was to come has come before it.
    listener.request("resources/subscribe", &json!({"uri": "test://watched-resource"})).unwrap();
    listener.call("fixture__test_touch_watched", &json!({})).unwrap();
    loop {
        let data = heard.recv_timeout(Duration::from_secs(10)).expect("the watched resource");
        assert!(!data.contains("canary"), "{data}");
        assert!(!data.contains("notifications/progress"), "{data}");
        if data.contains("notifications/resources/updated") {
            break;
        }
    }
}

fn hears_only_its_own(client: &Client, canary: &str) {
    let brief = json!({"seconds": 0.05});
    let (id, events) = client.begin("fixture__test_slow", &brief, canary).unwrap();
    let messages = events.map(|event| event.unwrap().data).filter(|data| !data.is_empty());
    for data in messages {
        let message: Value = serde_json::from_str(&data).unwrap();
        match message.get("id") {
            Some(answered) => assert_eq!(*answered, json!(id), "{data}"),
            None => assert_eq!(message["params"]["progressToken"], canary, "{data}"),
        }
    }
}

#[test]
fn one_session_cannot_cancel_or_answer_for_another() {
    let (_setup, gateway) = with_fixture();
    let victim = Client::connect_with(&gateway.url, &json!({"elicitation": {}})).unwrap();
    let intruder = gateway.client().unwrap();
    let arguments = json!({"message": "who?"});
    let (id, mut events) = victim.begin("fixture__test_elicitation", &arguments, "t").unwrap();
    let question: Value = events
        .by_ref()
        .map(|event| event.unwrap().data)
        .find(|data| data.contains("elicitation/create"))
        .map(|data| serde_json::from_str(&data).unwrap())
        .expect("a question");
    let answer = |name: &str| {
        let content = json!({"username": name, "email": "x@example.org"});
        let result = json!({"action": "accept", "content": content});
        json!({"jsonrpc": "2.0", "id": question["id"], "result": result})
    };
    intruder.notify("notifications/cancelled", &json!({"requestId": id})).unwrap();
    _ = intruder.post(&answer("intruder").to_string()).unwrap();
    assert_eq!(victim.post(&answer("victim").to_string()).unwrap().status, 202);
    let outcome = events
        .map(|event| event.unwrap().data)
        .find(|data| data.contains("\"result\""))
        .expect("an outcome");
    assert!(outcome.contains("victim") && !outcome.contains("intruder"), "{outcome}");
}
