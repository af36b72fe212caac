//! Clients that leave in the middle of a call: the call ends at its server.

use std::io::Write as _;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};
use toolgate_e2e::gateway::{GatewaySetup, TestGateway, stdio_entry, testkit};
use toolgate_e2e::mcp::{initialize, member};
use toolgate_e2e::process::TestProcess;
use toolgate_e2e::{TestClient, within};

const SLOW: &str = "fixture__test_slow";

fn with_fixture() -> (GatewaySetup, TestGateway) {
    let fixture = testkit("fixture", &["--stdio"]).unwrap();
    let setup = GatewaySetup::new(&stdio_entry("fixture", &fixture, &[])).unwrap();
    let gateway = setup.serve().unwrap();
    gateway.client_with(&[SLOW]).unwrap();
    (setup, gateway)
}

/// How many calls the server was told to cancel.
fn cancelled(client: &TestClient) -> Value {
    let answer = client.call("fixture__test_cancelled_count", &json!({})).unwrap();
    answer["result"]["structuredContent"]["cancelled"].clone()
}

#[test]
fn the_end_of_stdin_cancels_the_call_in_flight() {
    let (setup, gateway) = with_fixture();
    let witness = gateway.client().unwrap();
    let mut face = setup.serve_stdio().unwrap();
    let meta = json!({"progressToken": "slow"});
    let params = json!({"name": SLOW, "arguments": {"seconds": 5}, "_meta": meta});
    let call = json!({"jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": params});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    for message in [initialize("2025-11-25", &json!({})), initialized.to_string(), call.to_string()]
    {
        face.send(&message).unwrap();
    }
    let line =
        |face: &toolgate_e2e::process::TestProcess| face.line(Duration::from_secs(20)).unwrap();
    while !line(&face).contains("notifications/progress") {}
    face.close_stdin();
    let answer = loop {
        let line = line(&face);
        if member(&line, "id").is_some_and(|id| id == "\"call\"") {
            break line;
        }
    };
    assert!(member(&answer, "error").is_some(), "the call went on to its end: {answer}");
    assert!(within(Duration::from_secs(10), || cancelled(&witness) == 1));
    assert!(face.wait(Duration::from_secs(20)).unwrap().success());
}

#[test]
fn a_connection_that_closes_before_the_answer_begins_cancels_the_call() {
    let (_setup, gateway) = with_fixture();
    let (witness, client) = (gateway.client().unwrap(), gateway.client().unwrap());
    // A client that takes no stream for an answer hears of progress on its standing stream.
    let accept = [("Accept", "text/event-stream")];
    let headers: Vec<_> = client.headers().into_iter().chain(accept).collect();
    let mut standing = client.endpoint.send("GET", &headers, b"").unwrap().events();
    let meta = json!({"progressToken": "slow"});
    let params = json!({"name": SLOW, "arguments": {"seconds": 8}, "_meta": meta});
    let call = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params});
    let json = [("Accept", "application/json"), ("Content-Type", "application/json")];
    let headers: Vec<_> = client.headers().into_iter().chain(json).collect();
    let request = client.endpoint.framed("POST", &headers, call.to_string().as_bytes());
    let mut connection = client.endpoint.connect().unwrap();
    connection.write_all(&request).unwrap();
    let begun = standing.any(|event| event.unwrap().data.contains("notifications/progress"));
    assert!(begun, "the call did not begin");
    drop(connection);
    assert!(
        within(Duration::from_secs(12), || cancelled(&witness) == 1),
        "the call went on to its end"
    );
}

#[test]
fn a_stream_that_nobody_comes_back_to_cancels_the_call() {
    let (_setup, gateway) = with_fixture();
    let (witness, client) = (gateway.client().unwrap(), gateway.client().unwrap());
    let (_, mut events) = client.begin(SLOW, &json!({"seconds": 60}), "slow").unwrap();
    let begun = events.any(|event| event.unwrap().data.contains("notifications/progress"));
    assert!(begun, "the call did not begin");
    drop(events);
    assert!(
        within(Duration::from_secs(40), || cancelled(&witness) == 1),
        "the call goes on for nobody"
    );
}

/// A client in a process of its own: begins a call, and says so when the first progress has come.
const CALLER: &str = r#"
import http.client, json, sys, urllib.parse

url = urllib.parse.urlparse(sys.argv[1])
headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

def post(message):
    connection = http.client.HTTPConnection(url.hostname, url.port)
    connection.request("POST", url.path, json.dumps({"jsonrpc": "2.0", **message}), headers)
    return connection.getresponse()

opened = post({"id": 1, "method": "initialize", "params": {
    "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}})
headers["Mcp-Session-Id"] = opened.headers["Mcp-Session-Id"]
post({"method": "notifications/initialized"})
stream = post({"id": 2, "method": "tools/call", "params": {
    "name": "fixture__test_slow", "arguments": {"seconds": 60}, "_meta": {"progressToken": "p"}}})
while b"notifications/progress" not in stream.readline():
    pass
print("begun", flush=True)
stream.read()
"#;

#[test]
#[expect(clippy::disallowed_methods, reason = "the test starts a client to kill it")]
fn a_killed_client_leaves_no_call_while_one_that_only_lost_its_stream_may_come_back() {
    let (_setup, gateway) = with_fixture();
    let (witness, client) = (gateway.client().unwrap(), gateway.client().unwrap());
    let killed =
        TestProcess::start(Command::new("python3").args(["-c", CALLER, &gateway.url])).unwrap();
    assert_eq!(killed.line(Duration::from_secs(20)).unwrap(), "begun");
    // This client loses its stream before the other is killed, and its process lives on.
    let (_, mut events) = client.begin(SLOW, &json!({"seconds": 60}), "slow").unwrap();
    let seen = events.find(|event| {
        event.as_ref().is_ok_and(|event| event.data.contains("notifications/progress"))
    });
    let seen = seen.unwrap().unwrap().id.unwrap();
    drop(events);
    killed.signal(Signal::KILL).unwrap();
    assert!(
        within(Duration::from_secs(40), || cancelled(&witness) == 1),
        "the call of the killed client goes on"
    );
    let accept = [("Accept", "text/event-stream"), ("Last-Event-ID", seen.as_str())];
    let headers: Vec<_> = client.headers().into_iter().chain(accept).collect();
    let mut resumed = client.endpoint.send("GET", &headers, b"").unwrap().events();
    let next = resumed.find(|event| event.as_ref().is_ok_and(|event| !event.data.is_empty()));
    let next = next.expect("the stream goes on").unwrap().data;
    assert!(next.contains("notifications/progress"), "the call of a living client ended: {next}");
    assert_eq!(cancelled(&witness), 1);
}
