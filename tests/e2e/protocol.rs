//! Which revision is spoken, and how a session ends when the gateway does.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};
use toolgate_e2e::gateway::{GatewaySetup, stdio_entry, testkit};
use toolgate_e2e::http::EndpointUrl;
use toolgate_e2e::mcp::{answer, initialize, post};

const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

fn opened(url: &str, revision: &str) -> Value {
    let endpoint = EndpointUrl::parse(url).unwrap();
    let response = post(&endpoint, &[], &initialize(revision, &json!({}))).unwrap();
    answer(response, &json!(0)).unwrap()
}

#[test]
fn every_legacy_revision_is_spoken_as_asked_for() {
    let setup = GatewaySetup::new("").unwrap();
    let gateway = setup.serve().unwrap();
    for revision in REVISIONS {
        let answer = opened(&gateway.url, revision);
        assert_eq!(answer["result"]["protocolVersion"], revision, "{answer}");
    }
    let unknown = opened(&gateway.url, "1999-01-01");
    assert_eq!(unknown["result"]["protocolVersion"], "2025-11-25", "{unknown}");
}

#[test]
fn a_strict_gateway_rejects_every_other_revision() {
    let setup = GatewaySetup::new("").unwrap();
    let gateway = setup.serve_with(&["--protocol", "2025-11-25"]).unwrap();
    for revision in REVISIONS.iter().filter(|revision| **revision != "2025-11-25") {
        let answer = opened(&gateway.url, revision);
        assert!(answer.get("error").is_some(), "{revision}: {answer}");
    }
    let answer = opened(&gateway.url, "2025-11-25");
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
}

#[test]
fn a_terminated_gateway_lets_calls_finish() {
    let fixture = testkit("fixture", &["--stdio"]).unwrap();
    let setup = GatewaySetup::new(&stdio_entry("fixture", &fixture, &[])).unwrap();
    let mut gateway = setup.serve().unwrap();
    let client = gateway.client_with(&["fixture__test_slow"]).unwrap();
    let (_, mut events) = client.begin("fixture__test_slow", &json!({"seconds": 1}), "t").unwrap();
    events.by_ref().find(|event| event.as_ref().unwrap().data.contains("notifications/progress"));
    gateway.process.signal(Signal::TERM).unwrap();
    let outcome = events.map(|event| event.unwrap().data).find(|data| data.contains("\"result\""));
    assert!(outcome.expect("the call's outcome").contains("Worked for 1 s"));
    let status = gateway.process.wait(Duration::from_secs(10)).unwrap();
    assert!(status.success(), "{status}");
    assert!(client.endpoint.connect().is_err(), "the port is free again");
}

#[test]
fn a_client_that_hangs_up_ends_its_own_gateway() {
    let mark = toolgate_e2e::marked_processes::new_mark();
    let _sweep = toolgate_e2e::marked_processes::MarkedProcessGuard(mark.clone());
    let words = testkit("hostile", &["ignoreterm"]).unwrap();
    let entry =
        stdio_entry("stubborn", &words, &[(toolgate_e2e::marked_processes::VARIABLE, &mark)]);
    let setup = GatewaySetup::new(&entry).unwrap();
    let mut face = setup.serve_stdio().unwrap();
    face.send(&initialize("2025-11-25", &json!({}))).unwrap();
    face.line(Duration::from_secs(30)).unwrap();
    face.close_stdin();
    let status = face.wait(Duration::from_secs(10)).unwrap();
    assert!(status.success(), "{status}: {}", face.stderr());
    assert!(toolgate_e2e::marked_processes::find_marked(&mark).unwrap().is_empty());
}
