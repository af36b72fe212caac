//! The table of released clients: five agents as their vendors ship them, each with a scripted model,
//! in front of the gateway that `toolgate install` wrote into their files.
//!
//! What these tests believe is what the model was offered and told, the ledgers of servers, and the
//! processes of the machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};
use toolgate_e2e::agents::{Agent, AgentSetup};
use toolgate_e2e::gateway::{stdio_entry, testkit};
use toolgate_e2e::http::EndpointUrl;
use toolgate_e2e::marked_processes::{self, MarkedProcessGuard, find_marked};
use toolgate_e2e::within;

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Codex runs what calls itself read-only; for the rest its user has to say so beforehand.
fn trusting(agent: Agent) -> &'static [&'static str] {
    match agent {
        Agent::Codex => &["-c", "mcp_servers.toolgate.default_tools_approval_mode=\"approve\""],
        _ => &[],
    }
}

/// A step of the script: a call of the first of these tools that is offered.
fn step(call: &[&str], arguments: Value) -> Value {
    json!({ "call": call, "arguments": arguments })
}

/// A server whose calls are written down in a file of this folder.
fn notes_server(folder: &Path) -> (String, PathBuf) {
    let ledger = folder.join("ledger");
    let words = testkit("turncoat", &["--stdio", "--ledger", &ledger.display().to_string()]);
    (stdio_entry("notes", &words.unwrap(), &[]), ledger)
}

/// The calls in a ledger.
fn calls(ledger: &Path) -> Vec<Value> {
    let text = fs::read_to_string(ledger).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Whether a result is the server's answer to its call of this number. Some clients pass on the text,
/// some the structured content, some both.
fn is_answer(result: &str, number: usize) -> bool {
    result.contains(&format!("call {number}"))
        || result.contains(&format!("{{\"number\":{number}}}"))
}

fn lists_what_the_gateway_exposes(agent: Agent) {
    let servers = tempfile::TempDir::new().unwrap();
    let (config, _) = notes_server(servers.path());
    let setup = AgentSetup::new(agent, &config, &[]).unwrap();
    setup.install(&["--approve", "client"]).unwrap();
    let requests = setup.finish(&[]).unwrap();
    assert_eq!(requests[0].tools, ["notes__act", "notes__aside", "notes__look"]);
}

fn calls_a_tool_once(agent: Agent) {
    let servers = tempfile::TempDir::new().unwrap();
    let (config, ledger) = notes_server(servers.path());
    let steps = [step(&["notes__look"], json!({ "text": "Is anything there?" }))];
    let setup = AgentSetup::new(agent, &config, &steps).unwrap();
    setup.install(&["--approve", "client"]).unwrap();
    let requests = setup.finish(&[]).unwrap();
    let last = requests.last().unwrap();
    assert!(last.results.len() == 1 && is_answer(&last.results[0], 1), "{requests:#?}");
    let made = calls(&ledger);
    assert_eq!(made.len(), 1, "{made:?}");
    assert!(made[0]["params"].as_str().unwrap().contains("Is anything there?"), "{made:?}");
}

fn finds_and_calls_a_deferred_tool(agent: Agent) {
    let servers = tempfile::TempDir::new().unwrap();
    let (config, ledger) = notes_server(servers.path());
    // What only reads is known of trusted servers only.
    let config = format!("{config}trust = true\n\n[profiles.default]\nexpose = \"search\"\n");
    let steps = [
        step(&["tool_search"], json!({ "query": "read what was written down" })),
        step(
            &["call_read_only_tool", "call_tool"],
            json!({ "name": "notes__look", "arguments": { "text": "found" } }),
        ),
    ];
    let setup = AgentSetup::new(agent, &config, &steps).unwrap();
    setup.install(&["--approve", "client"]).unwrap();
    let requests = setup.finish(&[]).unwrap();
    assert!(!requests[0].tools.contains(&"notes__look".to_owned()), "{requests:#?}");
    let last = requests.last().unwrap();
    assert!(last.results.len() == 2 && is_answer(&last.results[1], 1), "{requests:#?}");
    assert_eq!(calls(&ledger).len(), 1, "{requests:#?}");
}

/// Whoever installs with `--approve operator` is asked, whatever holds for clients in general: the
/// gateway knows the name that the client gives itself.
fn waits_for_the_operator(agent: Agent) {
    let servers = tempfile::TempDir::new().unwrap();
    let (config, ledger) = notes_server(servers.path());
    let rules =
        "[policy]\nask = [\"mcp:notes/*\"]\n[approvals]\nvia = \"client\"\nwait = \"40s\"\n";
    let steps = [step(&["notes__act"], json!({ "text": "Approve me." }))];
    let setup = AgentSetup::new(agent, &format!("{rules}\n{config}"), &steps).unwrap();
    setup.install(&["--approve", "operator"]).unwrap();
    let mut running = setup.start(trusting(agent)).unwrap();
    let mut waiting = Vec::new();
    let ended = within(PATIENCE, || {
        let listed = setup.run(&["approvals", "list", "--json"]).unwrap();
        waiting = serde_json::from_str::<Vec<Value>>(&listed).unwrap();
        !waiting.is_empty() || running.wait(Duration::ZERO).is_ok()
    });
    assert!(ended && waiting.len() == 1, "nobody was asked: {:#?}", setup.requests());
    assert_eq!(waiting[0]["client"], agent.calls_itself(), "{waiting:?}");
    assert!(calls(&ledger).is_empty(), "it was called before anybody approved");
    setup.run(&["approvals", "approve", waiting[0]["id"].as_str().unwrap()]).unwrap();
    let request = setup.results(1, &mut running).unwrap();
    assert!(is_answer(&request.results[0], 1), "{request:#?}");
    assert_eq!(calls(&ledger).len(), 1);
}

/// A server that needs five seconds, and one that does not, both new to this home.
fn has_a_slow_upstreams_tools_in_its_first_run(agent: Agent) {
    let slow = testkit("turncoat", &["--stdio"]).unwrap().join(" ");
    let words = ["sh", "-c", &format!("sleep 5; exec {slow}")].map(str::to_owned);
    let steps = [step(&["slow__look"], json!({}))];
    let setup = AgentSetup::new(agent, &stdio_entry("slow", &words, &[]), &steps).unwrap();
    setup.install(&["--approve", "client"]).unwrap();
    let requests = setup.finish(&[]).unwrap();
    assert_eq!(requests[0].tools, ["slow__act", "slow__aside", "slow__look"]);
    let last = requests.last().unwrap();
    assert!(last.results.len() == 1 && is_answer(&last.results[0], 1), "{requests:#?}");
}

fn goes_on_after_the_gateway_restarted(agent: Agent) {
    let servers = tempfile::TempDir::new().unwrap();
    let (config, ledger) = notes_server(servers.path());
    let restarted = servers.path().join("restarted");
    let mut second = step(&["notes__look"], json!({ "text": "after" }));
    second["after"] = json!(restarted);
    let steps = [step(&["notes__look"], json!({ "text": "before" })), second];
    let setup = AgentSetup::new(agent, &config, &steps).unwrap();
    let mut gateway = setup.serve("127.0.0.1:0").unwrap();
    gateway.client_with(&["notes__look"]).unwrap();
    setup.install(&["--approve", "client", "--http"]).unwrap();
    let mut running = setup.start(&[]).unwrap();
    setup.results(1, &mut running).unwrap();
    let address = EndpointUrl::parse(&gateway.url).unwrap().authority;
    gateway.process.signal(Signal::KILL).unwrap();
    gateway.process.wait(PATIENCE).unwrap();
    let gateway = setup.serve(&address).unwrap();
    gateway.client_with(&["notes__look"]).unwrap();
    fs::write(restarted, "").unwrap();
    let request = setup.results(2, &mut running).unwrap();
    if agent == Agent::Gemini {
        // This release does not open a new session; it is told to, and its next run has one.
        assert!(request.results[1].contains("initialize again"), "{request:#?}");
        assert_eq!(calls(&ledger).len(), 1, "{request:#?}");
        drop(running);
        let requests = setup.finish(&[]).unwrap();
        assert!(is_answer(&requests.last().unwrap().results[1], 2), "{requests:#?}");
        return;
    }
    assert!(is_answer(&request.results[1], 1), "{request:#?}");
    assert_eq!(calls(&ledger).len(), 2, "{request:#?}");
}

/// A call that takes a minute, and the file that says when it arrived at its server.
fn slow_call(folder: &Path, mark: &str) -> (String, [Value; 1], PathBuf) {
    let begun = folder.join("begun");
    let words = testkit("fixture", &["--stdio", "--count", &begun.display().to_string()]).unwrap();
    let config = stdio_entry("fixture", &words, &[(marked_processes::VARIABLE, mark)]);
    (config, [step(&["fixture__test_slow"], json!({ "seconds": 60 }))], begun)
}

fn killed_over_stdio_it_leaves_no_server(agent: Agent) {
    let (servers, mark) = (tempfile::TempDir::new().unwrap(), marked_processes::new_mark());
    let _sweep = MarkedProcessGuard(mark.clone());
    let (config, steps, begun) = slow_call(servers.path(), &mark);
    let setup = AgentSetup::new(agent, &config, &steps).unwrap();
    setup.install(&["--approve", "client"]).unwrap();
    let running = setup.start(trusting(agent)).unwrap();
    assert!(within(PATIENCE, || begun.exists()), "{:#?}\n{}", setup.requests(), running.stderr());
    running.signal(Signal::KILL).unwrap();
    let gone = within(Duration::from_secs(5), || find_marked(&mark).unwrap().is_empty());
    assert!(gone, "{:?} are still there", find_marked(&mark));
}

fn killed_over_http_its_call_is_cancelled(agent: Agent) {
    let (servers, mark) = (tempfile::TempDir::new().unwrap(), marked_processes::new_mark());
    let _sweep = MarkedProcessGuard(mark.clone());
    let (config, steps, begun) = slow_call(servers.path(), &mark);
    let setup = AgentSetup::new(agent, &config, &steps).unwrap();
    let gateway = setup.serve("127.0.0.1:0").unwrap();
    let client = gateway.client_with(&["fixture__test_slow"]).unwrap();
    setup.install(&["--approve", "client", "--http"]).unwrap();
    let running = setup.start(trusting(agent)).unwrap();
    assert!(within(PATIENCE, || begun.exists()), "{:#?}\n{}", setup.requests(), running.stderr());
    running.signal(Signal::KILL).unwrap();
    let mut last = Value::Null;
    // A client may come back to a stream for ten seconds.
    let heard = within(PATIENCE, || {
        last = client.call("fixture__test_cancelled_count", &json!({})).unwrap();
        last["result"]["structuredContent"]["cancelled"] == 1
    });
    assert!(heard, "the server heard of no cancellation: {last}");
}

/// One test for each client and row.
macro_rules! table {
    ($($client:ident: $agent:ident,)*) => {$(
        mod $client {
            table!(@rows $agent:
                lists_what_the_gateway_exposes,
                calls_a_tool_once,
                finds_and_calls_a_deferred_tool,
                waits_for_the_operator,
                has_a_slow_upstreams_tools_in_its_first_run,
                goes_on_after_the_gateway_restarted,
                killed_over_stdio_it_leaves_no_server,
                killed_over_http_its_call_is_cancelled,
            );
        }
    )*};
    (@rows $agent:ident: $($row:ident,)*) => {$(
        #[test]
        fn $row() {
            super::$row(super::Agent::$agent);
        }
    )*};
}

table! {
    claude_code: ClaudeCode,
    codex: Codex,
    copilot: Copilot,
    gemini: Gemini,
    opencode: OpenCode,
}
