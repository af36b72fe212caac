//! An upstream that dies mid-call: its caller hears at once, nobody else notices.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};
use toolgate_e2e::gateway::{GatewaySetup, stdio_entry, testkit};
use toolgate_e2e::http::StreamEvents;
use toolgate_e2e::marked_processes::{self, MarkedProcessGuard, find_marked};
use toolgate_e2e::process::signal_pid;
use toolgate_e2e::{TestClient, count};

/// Less than the killed call would have taken: whoever waits so long waits for something else.
const LONG: Duration = Duration::from_secs(20);

/// Starts a slow call and reads its stream up to the first progress report, so that the call is
/// known to be with the server.
fn begin_slow(client: &TestClient, tool: &str, seconds: f64) -> (u64, StreamEvents) {
    let (id, mut events) = client.begin(tool, &json!({"seconds": seconds}), "slow").unwrap();
    loop {
        let message = message(events.next().unwrap().unwrap().data);
        assert!(message.get("id").is_none(), "ended before any progress: {message}");
        if message["method"] == "notifications/progress" {
            return (id, events);
        }
    }
}

fn outcome(id: u64, events: StreamEvents) -> Value {
    let mut messages = events.map(|event| message(event.unwrap().data));
    messages.find(|message| message["id"] == id).expect("the stream ended without an outcome")
}

/// An event without data only carries an id.
fn message(data: String) -> Value {
    if data.is_empty() { Value::Null } else { serde_json::from_str(&data).unwrap() }
}

fn failed(answer: &Value) -> bool {
    answer.get("error").is_some() || answer["result"]["isError"] == true
}

#[test]
fn a_killed_upstream_fails_its_call_at_once_and_nobody_elses() {
    let mark = marked_processes::new_mark();
    let _sweep = MarkedProcessGuard(mark.clone());
    let fixture = testkit("fixture", &["--stdio"]).unwrap();
    let config = stdio_entry("victim", &fixture, &[(marked_processes::VARIABLE, &mark)])
        + &stdio_entry("bystander", &fixture, &[]);
    let setup = GatewaySetup::new(&config).unwrap();
    let gateway = setup.serve().unwrap();
    let tools = ["victim__test_slow", "bystander__test_slow"];
    let client = gateway.client_with(&tools).unwrap();
    let mut waits: Vec<Duration> = Vec::new();
    for round in 0..count(100) {
        let (other, bystander) = begin_slow(&client, "bystander__test_slow", 0.3);
        let (id, victim) = begin_slow(&client, "victim__test_slow", 60.0);
        let killed = Instant::now();
        for pid in find_marked(&mark).unwrap() {
            signal_pid(pid, Signal::KILL).unwrap();
        }
        let answer = outcome(id, victim);
        let took = killed.elapsed();
        assert!(failed(&answer), "round {round}: {answer}");
        assert!(took < LONG, "round {round}: the error took {took:?}");
        waits.push(took);
        let unaffected = outcome(other, bystander);
        assert!(!failed(&unaffected), "round {round}: {unaffected}");
        let next = client.call("victim__test_simple_text", &json!({})).unwrap();
        assert!(!failed(&next), "round {round}: the next call: {next}");
    }
    // A machine may stall in some rounds; what makes callers wait does so in most.
    waits.sort_unstable();
    assert!(waits[waits.len() / 2] < Duration::from_secs(1), "the errors took {waits:?}");
}
