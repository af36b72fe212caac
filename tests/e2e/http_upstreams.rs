//! An upstream reached over HTTP that forgets us, hangs, or is started anew.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolgate_e2e::gateway::{
    GatewaySetup, TestGateway, TestServer, http_entry, stdio_entry, testkit,
};
use toolgate_e2e::http::EndpointUrl;
use toolgate_e2e::marked_processes::{self, MarkedProcessGuard, find_marked};
use toolgate_e2e::process::signal_pid;
use toolgate_e2e::{TestClient, within};

const SOON: Duration = Duration::from_secs(10);

/// A gateway with one server `fixture`, and a client of it.
fn before(entry: &str) -> (GatewaySetup, TestGateway, TestClient) {
    let setup = GatewaySetup::new(entry).unwrap();
    let gateway = setup.serve().unwrap();
    let client = gateway.client_with(&["fixture__test_echo"]).unwrap();
    (setup, gateway, client)
}

fn echoes(client: &TestClient, word: usize) {
    let answer = client.call("fixture__test_echo", &json!({"word": word})).unwrap();
    assert_eq!(answer["result"]["structuredContent"]["word"], word, "{answer}");
}

fn failed(answer: &Value) -> bool {
    answer.get("error").is_some() || answer["result"]["isError"] == true
}

#[test]
fn a_forgotten_session_is_opened_anew_and_only_what_may_be_repeated_is() {
    // Few requests per session, so that it is forgotten again and again.
    let forgetful =
        TestServer::start_with("fixture", "127.0.0.1:0", &["--forget-sessions-after", "20"]);
    let forgetful = forgetful.unwrap();
    // What a tool says of itself counts from a server that is trusted.
    let entry = http_entry("fixture", &forgetful.url) + "trust = true\n";
    let (_setup, _gateway, client) = before(&entry);
    for round in 0..100 {
        echoes(&client, round);
        let large = client.call("fixture__test_large_text", &json!({"bytes": 3})).unwrap();
        assert_eq!(large["result"]["content"][0]["text"], "xxx", "round {round}: {large}");
        let read = client.request("resources/read", &json!({"uri": "test://static-text"})).unwrap();
        assert!(read.get("result").is_some(), "round {round}: {read}");
    }
    let mut refused = 0;
    for round in 0..100 {
        let answer = client.call("fixture__test_simple_text", &json!({})).unwrap();
        if failed(&answer) {
            refused += 1;
            assert!(
                answer.to_string().contains("no longer recognizes the session"),
                "round {round}: {answer}"
            );
            let next = client.call("fixture__test_simple_text", &json!({})).unwrap();
            assert!(!failed(&next), "round {round}: the next call: {next}");
        }
    }
    assert!((1..=10).contains(&refused), "{refused} of 100 calls were refused");
}

/// A server that hangs is told that nobody waits any more, and goes on to serve when it wakes. It
/// notes in the file that a slow call is with it.
fn is_told_of_lost_patience(entry: &str, begun: &Path, pid: impl Fn() -> u32) {
    let entry = format!("{entry}timeouts = {{ call = \"1s\" }}\n");
    let (_setup, _gateway, client) = before(&entry);
    let (answer, took) = std::thread::scope(|scope| {
        let call = scope.spawn(|| {
            let asked = Instant::now();
            let answer = client.call("fixture__test_slow", &json!({"seconds": 600})).unwrap();
            (answer, asked.elapsed())
        });
        // It hangs in the middle of the call: over HTTP a word about one it has not read yet may
        // come before it, and mean nothing.
        assert!(within(SOON, || begun.exists()), "the call never came to its server");
        signal_pid(pid(), Signal::STOP).unwrap();
        let answered = call.join();
        signal_pid(pid(), Signal::CONT).unwrap();
        answered.unwrap()
    });
    assert!(failed(&answer), "{answer}");
    assert!(answer.to_string().contains("no answer within 1 s"), "{answer}");
    assert!(took >= Duration::from_secs(1), "{took:?}");
    let told = within(SOON, || {
        let counted = client.call("fixture__test_cancelled_count", &json!({})).unwrap();
        counted["result"]["structuredContent"]["cancelled"] == 1
    });
    assert!(told, "the server was never told");
}

#[test]
fn a_server_that_hangs_on_http_is_told_that_nobody_waits() {
    let folder = TempDir::new().unwrap();
    let begun = folder.path().join("begun");
    let options = ["--count", &begun.display().to_string()];
    let fixture = TestServer::start_with("fixture", "127.0.0.1:0", &options).unwrap();
    let entry = http_entry("fixture", &fixture.url);
    is_told_of_lost_patience(&entry, &begun, || fixture.process.pid());
}

#[test]
fn a_server_that_hangs_on_stdio_is_told_that_nobody_waits() {
    let mark = marked_processes::new_mark();
    let _sweep = MarkedProcessGuard(mark.clone());
    let folder = TempDir::new().unwrap();
    let begun = folder.path().join("begun");
    let options = ["--stdio", "--count", &begun.display().to_string()];
    let fixture = testkit("fixture", &options).unwrap();
    let entry = stdio_entry("fixture", &fixture, &[(marked_processes::VARIABLE, &mark)]);
    is_told_of_lost_patience(&entry, &begun, || find_marked(&mark).unwrap()[0]);
}

#[test]
fn a_server_that_was_started_anew_serves_the_next_call() {
    let first = TestServer::start("fixture").unwrap();
    let (url, address) = (first.url.clone(), EndpointUrl::parse(&first.url).unwrap().authority);
    let (_setup, _gateway, client) = before(&http_entry("fixture", &url));
    let mut running = first;
    for round in 0..3 {
        running.process.signal(Signal::KILL).unwrap();
        running.process.wait(SOON).unwrap();
        let gone = client.call("fixture__test_echo", &json!({})).unwrap();
        assert!(failed(&gone), "round {round}: nobody can have answered: {gone}");
        running = TestServer::start_with("fixture", &address, &[]).unwrap();
        let begun = Instant::now();
        let back = within(SOON, || {
            !failed(&client.call("fixture__test_simple_text", &json!({})).unwrap())
        });
        assert!(back, "round {round}: not served within {:?}", begun.elapsed());
        println!("round {round}: served again after {:?}", begun.elapsed());
        echoes(&client, round);
    }
}

#[test]
fn a_server_that_was_started_anew_behind_our_back_serves_the_next_call() {
    let mut running = TestServer::start("fixture").unwrap();
    let address = EndpointUrl::parse(&running.url).unwrap().authority;
    let entry = http_entry("fixture", &running.url) + "trust = true\n";
    let (_setup, _gateway, client) = before(&entry);
    for round in 0..3 {
        echoes(&client, round);
        running.process.signal(Signal::KILL).unwrap();
        running.process.wait(SOON).unwrap();
        running = TestServer::start_with("fixture", &address, &[]).unwrap();
        echoes(&client, round);
    }
}
