//! Released clients in front of our fixture: everything the two sides can say to each other.
//!
//! Over HTTP the gateway starts the fixture, over stdio it reaches a fixture that listens, so both
//! ways in meet both ways out. The same plan also runs against the fixture alone: when that fails,
//! the gateway is not to blame.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_e2e::gateway::{GatewaySetup, TestServer, http_entry, sampling, stdio_entry, testkit};
use toolgate_e2e::{TestClient, within};

use crate::plan::{Carrier, Era, Peer, names, text};

/// The plan; `prefix` is what the gateway puts before names.
fn steps(prefix: &str) -> Vec<Value> {
    let name = |name: &str| format!("{prefix}{name}");
    let call = |tool: &str, arguments: Value| json!({"do": "call", "name": name(tool), "arguments": arguments});
    let minute = json!({"seconds": 60});
    vec![
        json!({"do": "list", "until": [name("test_slow")]}),
        call("test_simple_text", json!({})),
        call("test_tool_with_progress", json!({})),
        call("test_elicitation", json!({"message": "Who are you?"})),
        call("test_sampling", json!({"prompt": "Say something."})),
        json!({"do": "read", "uri": "test://static-text"}),
        json!({"do": "prompt", "name": name("test_simple_prompt"), "arguments": {}}),
        json!({"do": "cancel", "name": name("test_slow"), "arguments": minute, "after": 10_000}),
        call("test_simple_text", json!({})),
    ]
}

/// Plays the plan and checks everything but the cancellation's arrival; gives the cancelled step.
fn plays(peer: Peer, carrier: &Carrier, prefix: &str) -> Value {
    let report = peer.play(carrier, steps(prefix));
    let [list, simple, progress, elicited, sampled, read, prompt, cancelled, after] =
        &report.steps[..]
    else {
        panic!("{report:?}");
    };
    assert!(names(&list["tools"], &format!("{prefix}test_simple_text")), "{list}");
    assert!(names(&list["resources"], "test://static-text"), "{list}");
    assert!(names(&list["prompts"], &format!("{prefix}test_simple_prompt")), "{list}");
    for step in [simple, after] {
        assert_eq!(text(step), "This is a simple text response for testing.");
    }
    let reported: Vec<f64> = progress["progress"]
        .as_array()
        .unwrap()
        .iter()
        .map(|report| report["progress"].as_f64().unwrap())
        .collect();
    assert_eq!(reported, [0.0, 50.0, 100.0], "{progress}");
    assert!(text(elicited).contains("ada@example.org"), "{elicited}");
    let asks = if prefix.is_empty() { "Who are you?" } else { "[fixture] Who are you?" };
    assert_eq!(report.asked("elicitation/create")[0]["message"], asks, "it says who asks");
    assert!(text(sampled).contains("an imagined answer"), "{sampled}");
    let question = report.asked("sampling/createMessage")[0];
    assert!(question["messages"].to_string().contains("Say something."), "{question}");
    assert_eq!(read["result"]["contents"][0]["uri"], "test://static-text", "{read}");
    assert!(prompt["result"]["messages"][0]["content"]["text"].is_string(), "{prompt}");
    assert_eq!(cancelled["cancelled"], true, "{cancelled}");
    cancelled.clone()
}

/// The fixture counts the cancellations it heard of.
fn hears_the_cancellation(client: &TestClient, tool: &str) {
    let mut last = Value::Null;
    let heard = within(Duration::from_secs(10), || {
        last = client.call(tool, &json!({})).unwrap();
        last["result"]["structuredContent"]["cancelled"] == 1
    });
    assert!(heard, "the fixture heard of no cancellation: {last}");
}

fn directly(peer: Peer) {
    let fixture = TestServer::start("fixture").unwrap();
    plays(peer, &Carrier::Http(fixture.url.clone()), "");
    hears_the_cancellation(&TestClient::connect(&fixture.url).unwrap(), "test_cancelled_count");
}

fn over_http(peer: Peer) {
    let fixture = testkit("fixture", &["--stdio"]).unwrap();
    let setup = GatewaySetup::new(&sampling(&stdio_entry("fixture", &fixture, &[]))).unwrap();
    let gateway = setup.serve().unwrap();
    let cancelled = plays(peer, &Carrier::Http(gateway.url.clone()), "fixture__");
    hears_the_cancellation(&gateway.client().unwrap(), "fixture__test_cancelled_count");
    answers_a_waiting_client(peer, &cancelled);
}

fn over_stdio(peer: Peer) {
    let fixture = TestServer::start("fixture").unwrap();
    let setup = GatewaySetup::new(&sampling(&http_entry("fixture", &fixture.url))).unwrap();
    let carrier = Carrier::Stdio(setup.words(&["serve", "--stdio"]));
    let cancelled = plays(peer, &carrier, "fixture__");
    hears_the_cancellation(&TestClient::connect(&fixture.url).unwrap(), "test_cancelled_count");
    answers_a_waiting_client(peer, &cancelled);
}

/// The Python SDK goes on waiting for a call it cancelled; the gateway must not leave it waiting.
fn answers_a_waiting_client(peer: Peer, cancelled: &Value) {
    if let Peer::Python = peer {
        assert_eq!(cancelled["code"], -32800, "{cancelled}");
    }
}

#[test]
fn typescript_meets_the_fixture_alone() {
    directly(Peer::TypeScript);
}

#[test]
fn python_meets_the_fixture_alone() {
    directly(Peer::Python);
}

#[test]
fn rmcp_meets_the_fixture_alone() {
    directly(Peer::Rmcp(Era::Legacy));
}

#[test]
fn typescript_over_http() {
    over_http(Peer::TypeScript);
}

#[test]
fn python_over_http() {
    over_http(Peer::Python);
}

#[test]
fn rmcp_over_http() {
    over_http(Peer::Rmcp(Era::Legacy));
}

#[test]
fn typescript_over_stdio() {
    over_stdio(Peer::TypeScript);
}

#[test]
fn python_over_stdio() {
    over_stdio(Peer::Python);
}

#[test]
fn rmcp_over_stdio() {
    over_stdio(Peer::Rmcp(Era::Legacy));
}
