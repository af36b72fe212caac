//! Results of any size: passed on whole without being held, or shown in part and kept.
//!
//! Memory is a count, not a time: the peak of the gateway's resident memory before and after.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use toolgate_e2e::gateway::{GatewaySetup, TestServer, http_entry, stdio_entry, testkit};
use toolgate_e2e::http::EndpointUrl;
use toolgate_testkit::bulk;

/// What a tool returns here.
const MUCH: usize = 50_000_000;
/// By how much that may raise the peak of the gateway's memory.
const ROOM: u64 = 24 << 20;

/// How the gateway reaches the server.
#[derive(Debug, Clone, Copy)]
enum Upstream {
    Stdio,
    HttpJson,
    HttpEvents,
    OldSse,
}

/// A gateway before one `bulk` server.
struct Stage {
    setup: GatewaySetup,
    _server: Option<TestServer>,
}

impl Stage {
    fn new(upstream: Upstream, more: &str) -> Self {
        let (entry, server) = match upstream {
            Upstream::Stdio => {
                (stdio_entry("bulk", &testkit("bulk", &["--stdio"]).unwrap(), &[]), None)
            }
            other => {
                let server = match other {
                    Upstream::HttpJson => {
                        TestServer::start_with("bulk", "127.0.0.1:0", &["--json"])
                    }
                    Upstream::OldSse => TestServer::start_as("bulk", &["--sse", "127.0.0.1:0"]),
                    _ => TestServer::start("bulk"),
                };
                let server = server.unwrap();
                let mut entry = http_entry("bulk", &server.url);
                if matches!(other, Upstream::OldSse) {
                    entry.push_str("transport = \"sse\"\n");
                }
                (entry, Some(server))
            }
        };
        Self { setup: GatewaySetup::new(&format!("{entry}{more}")).unwrap(), _server: server }
    }
}

/// The raw `result` of a raw answer, which ends with it.
fn result_of(answer: &str) -> &str {
    let at = answer.find("\"result\":").expect("a result") + "\"result\":".len();
    answer[at..].trim_end().strip_suffix('}').expect("a whole answer").trim()
}

/// Without the white space that a carrier may change: line breaks, and what becomes of them.
fn flat(text: &str) -> String {
    let mut flat = String::with_capacity(text.len());
    text.split([' ', '\n', '\r']).for_each(|part| flat.push_str(part));
    flat
}

/// The gateway's session over HTTP, spoken raw: the answer is compared byte for byte.
struct Raw {
    endpoint: EndpointUrl,
    session: String,
    accept: &'static str,
    credential: Option<String>,
}

impl Raw {
    fn open(url: &str, accept: &'static str) -> Self {
        Self::open_as(None, url, accept)
    }

    fn open_as(credential: Option<String>, url: &str, accept: &'static str) -> Self {
        let endpoint = EndpointUrl::parse(url).unwrap();
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "results", "version": "0"}}});
        let both = "application/json, text/event-stream";
        let mut headers = vec![("Content-Type", "application/json"), ("Accept", both)];
        headers.extend(credential.iter().map(|key| ("Authorization", key.as_str())));
        let reply = endpoint.send("POST", &headers, hello.to_string().as_bytes()).unwrap();
        let session = reply.header("mcp-session-id").unwrap().to_owned();
        let raw = Self { endpoint, session, accept, credential };
        let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        raw.post(&told);
        raw
    }

    fn post(&self, message: &Value) -> String {
        let mut headers = vec![
            ("Content-Type", "application/json"),
            ("Accept", self.accept),
            ("Mcp-Session-Id", self.session.as_str()),
        ];
        headers.extend(self.credential.iter().map(|key| ("Authorization", key.as_str())));
        let reply = self.endpoint.send("POST", &headers, message.to_string().as_bytes()).unwrap();
        if reply.streams() {
            let data = reply.events().map(Result::unwrap).map(|event| event.data);
            return data.filter(|data| data.contains("\"result\"")).last().expect("an answer");
        }
        reply.text().unwrap()
    }

    fn request(&self, method: &str, params: &Value) -> String {
        self.post(&json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}))
    }

    fn call(&self, shape: &str, bytes: usize) -> String {
        let arguments = json!({"shape": shape, "bytes": bytes});
        self.request("tools/call", &json!({"name": "bulk__bulk", "arguments": arguments}))
    }
}

/// The gateway on stdio, spoken raw.
struct Lines {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Lines {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut lines = Self { child, output };
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "results", "version": "0"}}});
        lines.ask(&hello);
        let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        writeln!(lines.child.stdin.as_ref().unwrap(), "{told}").unwrap();
        lines
    }

    fn ask(&mut self, message: &Value) -> String {
        writeln!(self.child.stdin.as_ref().unwrap(), "{message}").unwrap();
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).unwrap();
            assert!(!line.is_empty(), "the gateway ended");
            if line.contains("\"result\"") || line.contains("\"error\"") {
                return line;
            }
        }
    }

    fn peak(&self) -> u64 {
        peak(self.child.id())
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let mut rest = Vec::new();
        let _ = self.output.read_to_end(&mut rest);
        let _ = self.child.wait();
    }
}

fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() << 10
}

/// A profile that bounds results to so many tokens.
const BOUNDED: &str = "[profiles.default]\nresults = 2000\n";

/// Holds one answer against what the server was asked for, and the memory against its bound.
fn holds(what: &str, shape: &str, answer: &str, grown: u64) {
    let expected = bulk::result(shape, MUCH).unwrap();
    let got = result_of(answer);
    println!("{what} {shape}: {} bytes, the peak grew by {} KiB", expected.len(), grown >> 10);
    // Not `assert_eq`: nobody wants to see either of them.
    let same = match shape {
        "pretty" => flat(&expected) == flat(got),
        _ => expected == got,
    };
    assert!(same, "{what} {shape}: {} bytes came of {}", got.len(), expected.len());
    assert!(grown < ROOM, "{what} {shape}: the peak grew by {grown} bytes");
}

fn passes_over_http(upstream: Upstream, accept: &'static str, shapes: &[&str]) {
    let stage = Stage::new(upstream, "");
    let gateway = stage.setup.serve().unwrap();
    gateway.client_with(&["bulk__bulk"]).unwrap();
    let raw = Raw::open(&gateway.url, accept);
    let small = raw.call("text", 1000);
    assert_eq!(result_of(&small), bulk::result("text", 1000).unwrap());
    for &shape in shapes {
        let before = gateway.process.peak().unwrap();
        let answer = raw.call(shape, MUCH);
        let after = gateway.process.peak().unwrap();
        holds(&format!("{upstream:?} to {accept}"), shape, &answer, after.saturating_sub(before));
    }
}

const PLAIN: &str = "application/json, text/event-stream";
const EVENTS: &str = "text/event-stream";

#[test]
fn a_large_result_of_a_process_passes_whole_over_http() {
    let shapes = ["text", "blocks", "structured"];
    passes_over_http(Upstream::Stdio, PLAIN, &shapes);
}

#[test]
fn a_large_result_of_a_process_passes_whole_as_an_event() {
    passes_over_http(Upstream::Stdio, EVENTS, &["pretty"]);
}

#[test]
fn a_large_result_that_came_as_json_passes_whole() {
    passes_over_http(Upstream::HttpJson, PLAIN, &["text"]);
}

#[test]
fn a_large_result_that_came_as_an_event_passes_whole() {
    passes_over_http(Upstream::HttpEvents, PLAIN, &["pretty"]);
}

#[test]
fn a_large_result_of_the_oldest_transport_passes_whole() {
    passes_over_http(Upstream::OldSse, PLAIN, &["text"]);
}

#[test]
fn a_large_result_passes_whole_to_a_client_on_stdio() {
    for (upstream, shape) in [(Upstream::Stdio, "text"), (Upstream::HttpEvents, "pretty")] {
        let stage = Stage::new(upstream, "");
        let mut lines = Lines::start(&mut stage.setup.command(&["serve", "--stdio"]));
        let call = |shape: &str, bytes: usize| {
            let arguments = json!({"shape": shape, "bytes": bytes});
            let params = json!({"name": "bulk__bulk", "arguments": arguments});
            json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params})
        };
        lines.ask(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
        lines.ask(&call("text", 1000));
        let before = lines.peak();
        let answer = lines.ask(&call(shape, MUCH));
        let grown = lines.peak().saturating_sub(before);
        holds(&format!("{upstream:?} to lines"), shape, &answer, grown);
    }
}

/// A large request whose large answer must be rewritten, then another one: neither may wait for
/// what the first one holds.
#[test]
fn a_large_request_with_a_large_answer_does_not_wait_for_itself() {
    for upstream in [Upstream::Stdio, Upstream::OldSse] {
        let stage = Stage::new(upstream, "");
        let gateway = stage.setup.serve().unwrap();
        gateway.client_with(&["bulk__bulk"]).unwrap();
        // A plain answer: a stream would send signs of life for as long as the call hangs.
        let raw = Raw::open(&gateway.url, "application/json");
        let arguments =
            json!({"shape": "invisible", "bytes": 3 << 20, "more": "x".repeat(9 << 20)});
        let params = json!({"name": "bulk__bulk", "arguments": arguments});
        let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        let headers = [
            ("Content-Type", "application/json"),
            ("Accept", raw.accept),
            ("Mcp-Session-Id", raw.session.as_str()),
        ];
        for _ in 0..2 {
            let reply = raw.endpoint.send("POST", &headers, call.to_string().as_bytes());
            let answer = reply.and_then(|reply| reply.text());
            assert!(answer.is_ok(), "{upstream:?}: no answer came: {answer:?}");
            let shown = joined(&contents(&answer.unwrap()));
            assert!(shown == bulk::text(3 << 20), "{upstream:?}: {} bytes came", shown.len());
        }
    }
}

/// The one JSON-RPC answer, read.
fn read(answer: &str) -> Value {
    serde_json::from_str(answer).expect("an answer is JSON")
}

fn contents(answer: &str) -> Value {
    let answer = read(answer);
    assert!(answer["error"].is_null(), "{answer}");
    answer["result"].clone()
}

/// Everything a model reads of a result.
fn joined(result: &Value) -> String {
    let blocks = result["content"].as_array().unwrap().iter();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_large_result_is_shown_in_part_and_read_by_range_and_search() {
    let stage = Stage::new(Upstream::Stdio, BOUNDED);
    let another = stage.setup.key("another").unwrap();
    let gateway = stage.setup.serve().unwrap();
    gateway.client_with(&["bulk__bulk", "read_result"]).unwrap();
    let raw = Raw::open(&gateway.url, PLAIN);
    raw.call("text", 1000);
    let before = gateway.process.peak().unwrap();
    let answer = raw.call("text", MUCH);
    let result = contents(&answer);
    let uri = result["_meta"]["dev.toolgate/result"]["uri"].as_str().unwrap().to_owned();
    let whole = bulk::text(MUCH);
    let shown = joined(&result);
    assert!(answer.len() < 20_000, "{} bytes are shown", answer.len());
    assert!(whole.starts_with(&shown[..2000]) && shown.contains(&uri), "{}", &shown[..200]);
    let tail = result["content"][2]["text"].as_str().unwrap();
    assert!(whole.ends_with(tail) && tail.len() > 1000, "{tail}");
    assert!(result.get("structuredContent").is_none());
    let kind = result["content"][3]["type"].as_str();
    assert_eq!(kind, Some("resource_link"), "{result}");

    let fetch = |uri: &str| raw.request("resources/read", &json!({"uri": uri}));
    // By ranges, however they cut: a page, the middle, and the end.
    let mut at = 0;
    for _ in 0..3 {
        let page = contents(&fetch(&format!("{uri}?offset={at}&length=100001")));
        let text = page["contents"][0]["text"].as_str().unwrap();
        assert!(whole[at..].starts_with(text) && text.len() > 99_990, "at {at}");
        let next = page["_meta"]["dev.toolgate/result"]["nextOffset"].as_u64().unwrap();
        at += text.len();
        assert_eq!(next, at as u64);
    }
    let middle = whole.find(bulk::NEEDLE).unwrap();
    let page = contents(&fetch(&format!("{uri}?offset={middle}&length=18")));
    assert_eq!(page["contents"][0]["text"], bulk::NEEDLE);
    let page = contents(&fetch(&format!("{uri}?offset={}", whole.len() - 10)));
    assert!(whole.ends_with(page["contents"][0]["text"].as_str().unwrap()));
    // By search, in another case, and by lines.
    let found = contents(&fetch(&format!("{uri}?search=nadel-IM")));
    let places = &found["_meta"]["dev.toolgate/result"]["matches"];
    assert_eq!(*places, json!([middle]), "{found}");
    assert!(found["contents"][0]["text"].as_str().unwrap().contains("here is the"));
    let lines = contents(&fetch(&format!("{uri}?lines=2-3")));
    let expected: Vec<_> = whole.split_inclusive('\n').skip(1).take(2).collect();
    assert_eq!(lines["contents"][0]["text"], expected.concat());
    // By the tool, as a model would.
    let arguments = json!({"uri": uri, "search": bulk::NEEDLE});
    let call = json!({"name": "read_result", "arguments": arguments});
    let told = contents(&raw.request("tools/call", &call));
    assert!(joined(&told).contains(&format!("@{middle}: ")), "{told}");
    // As the server sent it, to the byte.
    let sent = bulk::result("text", MUCH).unwrap();
    let page = contents(&fetch(&format!("{uri}?form=raw&offset=0&length=300000")));
    assert!(sent.starts_with(page["contents"][0]["text"].as_str().unwrap()));
    let grown = gateway.process.peak().unwrap().saturating_sub(before);
    println!("bounded text: the peak grew by {} KiB", grown >> 10);
    assert!(grown < ROOM, "the peak grew by {grown} bytes");

    // The same principal finds it in another session; another does not even learn that it is there.
    let again = Raw::open(&gateway.url, PLAIN);
    let page = contents(&again.request("resources/read", &json!({"uri": uri})));
    assert!(whole.starts_with(page["contents"][0]["text"].as_str().unwrap()));
    let other = Raw::open_as(Some(another), &gateway.url, PLAIN);
    let refused = read(&other.request("resources/read", &json!({"uri": uri})));
    assert!(refused["error"]["message"].as_str().unwrap().contains("no result is kept"));
    assert_eq!(std::fs::read_dir(results_folder(&stage.setup)).unwrap().count(), 0);
}

/// Where results lie: without a name, so that nothing is left when the gateway is killed.
fn results_folder(setup: &GatewaySetup) -> std::path::PathBuf {
    let mut folders = vec![setup.home()];
    while let Some(folder) = folders.pop() {
        if folder.ends_with("results") {
            return folder;
        }
        let entries = std::fs::read_dir(&folder).unwrap().map(Result::unwrap);
        folders.extend(entries.map(|entry| entry.path()).filter(|path| path.is_dir()));
    }
    panic!("no folder for results below {}", setup.home().display());
}

#[test]
fn what_is_no_text_is_left_out_with_its_type_and_size_and_kept() {
    let stage = Stage::new(Upstream::Stdio, BOUNDED);
    let gateway = stage.setup.serve().unwrap();
    gateway.client_with(&["bulk__bulk", "read_result"]).unwrap();
    let raw = Raw::open(&gateway.url, PLAIN);
    let listed = contents(&raw.request("tools/list", &json!({})));
    let tools = listed["tools"].as_array().unwrap();
    assert!(tools.iter().all(|tool| tool.get("outputSchema").is_none()), "{listed}");
    let templates = contents(&raw.request("resources/templates/list", &json!({})));
    assert!(templates.to_string().contains("toolgate://results/{id}{?offset"), "{templates}");
    let before = gateway.process.peak().unwrap();

    let picture = contents(&raw.call("image", MUCH));
    let shown = joined(&picture);
    assert!(
        shown.contains("a picture") && shown.contains("[image image/png, 35.8 MiB]"),
        "{shown}"
    );
    let uri = picture["_meta"]["dev.toolgate/result"]["uri"].as_str().unwrap();
    let part = raw.request("resources/read", &json!({"uri": format!("{uri}?part=1")}));
    let part = contents(&part);
    assert_eq!(part["contents"][0]["mimeType"], "image/png");
    let data = "iVBORw0KGgo/+8AB".repeat(MUCH / 16);
    assert!(part["contents"][0]["blob"] == data, "the data comes back whole");

    let rows = contents(&raw.call("structured", MUCH));
    assert!(joined(&rows).contains("see the rows") && joined(&rows).contains("form=structured"));
    let uri = rows["_meta"]["dev.toolgate/result"]["uri"].as_str().unwrap();
    let output =
        contents(&raw.request(
            "resources/read",
            &json!({"uri": format!("{uri}?form=structured&length=100")}),
        ));
    assert!(output["contents"][0]["text"].as_str().unwrap().starts_with("{\"rows\":[{\"row\":1,"));

    let blocks = contents(&raw.call("blocks", MUCH));
    assert!(joined(&blocks).len() < 20_000);
    let grown = gateway.process.peak().unwrap().saturating_sub(before);
    println!("bounded image, structured and blocks: the peak grew by {} KiB", grown >> 10);
    assert!(grown < ROOM, "the peak grew by {grown} bytes");

    let small = contents(&raw.call("text", 1000));
    assert_eq!(small["structuredContent"]["ok"], 1.5, "what is small passes as it is");
}
