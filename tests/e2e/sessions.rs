//! Sessions of the legacy revisions: they cannot be chosen, guessed or crossed (T10).

use std::collections::HashSet;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_e2e::gateway::{GatewaySetup, TestGateway, stdio_entry, testkit};
use toolgate_e2e::http::{EndpointUrl, KeepAliveConnection};
use toolgate_e2e::mcp::{REVISION, initialize, post};
use toolgate_e2e::{TestClient, count, counts};

fn with_fixture() -> (GatewaySetup, TestGateway) {
    let setup = fixture();
    let gateway = served(&setup);
    (setup, gateway)
}

fn fixture() -> GatewaySetup {
    let fixture = testkit("fixture", &["--stdio"]).unwrap();
    GatewaySetup::new(&stdio_entry("fixture", &fixture, &[])).unwrap()
}

fn served(setup: &GatewaySetup) -> TestGateway {
    let gateway = setup.serve().unwrap();
    gateway.client_with(&["fixture__test_slow"]).unwrap();
    gateway
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
    let endpoint = EndpointUrl::parse(&gateway.url).unwrap();
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

/// Two people, each with four sessions that talk at once, while a ninth session listens.
#[test]
fn what_one_session_is_told_no_other_hears() {
    let setup = fixture();
    let people = ["one", "two"].map(|name| setup.key(name).unwrap());
    let gateway = served(&setup);
    let listener = gateway.client().unwrap();
    let heard = listen(&listener);
    std::thread::scope(|scope| {
        for talker in 0..8 {
            let holder = Some(people[talker % 2].clone());
            let client = TestClient::connect_as(holder, &gateway.url, &json!({})).unwrap();
            scope.spawn(move || {
                for round in 0..counts(500, 12_500) {
                    let canary = format!("canary-{talker}-{round}");
                    match round % 25 {
                        0 => hears_only_its_own(&client, &canary),
                        _ => is_answered_its_own(&client, &canary),
                    }
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

/// What comes on a session's standing stream, as it comes.
fn listen(client: &TestClient) -> Receiver<String> {
    let accept = [("Accept", "text/event-stream")];
    let headers: Vec<_> = client.headers().into_iter().chain(accept).collect();
    let stream = client.endpoint.send("GET", &headers, b"").unwrap();
    assert_eq!(stream.status, 200);
    let (told, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for event in stream.events().map_while(Result::ok) {
            if told.send(event.data).is_err() {
                break;
            }
        }
    });
    heard
}

fn is_answered_its_own(client: &TestClient, canary: &str) {
    let answer = client.call("fixture__test_echo", &json!({"canary": canary})).unwrap();
    assert_eq!(answer["result"]["structuredContent"]["canary"], canary, "{answer}");
}

fn hears_only_its_own(client: &TestClient, canary: &str) {
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
fn a_session_is_of_no_use_to_anybody_else() {
    let setup = fixture();
    let [own, other] = ["one", "two"].map(|name| setup.key(name).unwrap());
    let gateway = served(&setup);
    let client = TestClient::connect_as(Some(own), &gateway.url, &json!({})).unwrap();
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    assert_eq!(client.post(&ping).unwrap().status, 200);
    let stolen = ("Mcp-Session-Id", client.session.as_str());
    for thief in [&[stolen][..], &[stolen, ("Authorization", &other)]] {
        assert_eq!(post(&client.endpoint, thief, &ping).unwrap().status, 404, "{thief:?}");
        let ended = client.endpoint.send("DELETE", thief, b"").unwrap();
        assert_eq!(ended.status, 404, "{thief:?}");
    }
    assert_eq!(client.post(&ping).unwrap().status, 200);
}

#[test]
fn openings_without_number_take_bounded_memory() {
    const THREADS: usize = 4;
    let (_setup, gateway) = with_fixture();
    let before = gateway.process.resident().unwrap();
    let endpoint = EndpointUrl::parse(&gateway.url).unwrap();
    let headers = [("Content-Type", "application/json"), ("Accept", "application/json")];
    let opening = initialize(REVISION, &json!({"elicitation": {}, "sampling": {}}));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let mut connection = KeepAliveConnection::open(&endpoint).unwrap();
                for _ in 0..count(100_000) / THREADS {
                    let opened = connection.send("POST", &headers, opening.as_bytes()).unwrap();
                    assert_eq!(opened.status, 200);
                    opened.bytes().unwrap();
                }
            });
        }
    });
    let grown = gateway.process.resident().unwrap().saturating_sub(before);
    println!("{} openings: {} KiB more", count(100_000), grown >> 10);
    assert!(grown < 64 << 20, "{} MiB more", grown >> 20);
    assert!(gateway.client().unwrap().request("ping", &json!({})).is_ok());
}

#[test]
fn one_session_cannot_cancel_or_answer_for_another() {
    let (_setup, gateway) = with_fixture();
    let victim = TestClient::connect_with(&gateway.url, &json!({"elicitation": {}})).unwrap();
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
