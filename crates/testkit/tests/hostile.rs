//! The hostile server as a process: every mode is ordinary until it is due, and then does what its
//! description says.
//!
//! What the gateway makes of it is NOT tested here.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test fails by panicking
#![allow(clippy::disallowed_methods)] // the server is started without `launch`

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};
use toolgate_testkit::hostile::{MODES, ModeTransports};

const HOSTILE: &str = env!("CARGO_BIN_EXE_hostile");

struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(HOSTILE)
            .args(arguments)
            // Grandchildren that outlive a test do not outlive it by much.
            .args(["--lifetime", "20"])
            .env("HOSTILE_CANARY", "sings")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Server { child, input, output }
    }

    /// Sends a message; a server that has ended does not read it, and the test sees that below.
    fn send(&mut self, message: &Value) {
        let _ = writeln!(self.input.as_mut().unwrap(), "{message}");
    }

    fn request(&mut self, id: u64, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    fn initialize(&mut self, id: u64) {
        self.request(id, "initialize", json!({ "protocolVersion": "2025-11-25" }));
    }

    fn call(&mut self, id: u64, tool: &str, arguments: Value) {
        self.request(id, "tools/call", json!({ "name": tool, "arguments": arguments }));
    }

    /// The next line as bytes; nothing at the end.
    fn line(&mut self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        (self.output.read_until(b'\n', &mut line).unwrap() > 0).then_some(line)
    }

    /// The next message that answers request `id`, skipping what is no JSON.
    fn answer(&mut self, id: u64) -> Option<Value> {
        loop {
            let line = self.line()?;
            if let Ok(message) = serde_json::from_slice::<Value>(&line)
                && message["id"] == id
                && message.get("method").is_none()
            {
                return Some(message);
            }
        }
    }

    fn text(&mut self, id: u64) -> String {
        self.answer(id).unwrap()["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    }

    fn list(&mut self, id: u64, cursor: Option<&str>) -> Value {
        let params = cursor.map_or(json!({}), |cursor| json!({ "cursor": cursor }));
        self.request(id, "tools/list", params);
        self.answer(id).unwrap()["result"].take()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_list_names_every_mode() {
    let output = Command::new(HOSTILE).arg("--list").output().unwrap();
    let listed = String::from_utf8(output.stdout).unwrap();
    let names: Vec<&str> = listed.lines().map(|line| line.split(' ').next().unwrap()).collect();
    let all: Vec<&str> = MODES.iter().map(|mode| mode.name).collect();
    assert_eq!(names, all);
    assert!(MODES.iter().all(|mode| listed.contains(mode.about)));
}

#[test]
fn every_mode_answers_initialize_unless_it_says_otherwise() {
    for mode in MODES {
        let mut server = Server::start(&[mode.name, "--stdio"]);
        server.initialize(1);
        if mode.opens {
            let answer = server.answer(1).unwrap_or_else(|| panic!("{} ended", mode.name));
            assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{}", mode.name);
        } else {
            server.request(2, "ping", json!({}));
            let mut seen = std::iter::from_fn(|| server.line());
            let next = seen.next().map(|line| serde_json::from_slice::<Value>(&line).unwrap());
            assert!(next.is_none_or(|answer| answer["id"] == 2), "{}", mode.name);
        }
    }
}

#[test]
fn echo_behaves_in_every_mode_that_opens() {
    for mode in MODES.iter().filter(|mode| mode.opens) {
        let mut server = Server::start(&[mode.name]);
        server.initialize(1);
        server.call(2, "echo", json!({ "text": "still here" }));
        assert_eq!(server.text(2), "still here", "{}", mode.name);
    }
}

#[test]
fn every_mode_that_makes_sense_on_http_opens_there() {
    for mode in MODES.iter().filter(|mode| mode.opens && mode.carrier == ModeTransports::Both) {
        let mut server = Server::start(&[mode.name, "--http", "127.0.0.1:0"]);
        let url = String::from_utf8(server.line().unwrap()).unwrap();
        let address = url.trim().strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
        let mut stream = TcpStream::connect(address).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        assert!(response.starts_with("HTTP/1.1 200"), "{}: {response}", mode.name);
        assert!(response.contains(r#""id":1,"result""#), "{}: {response}", mode.name);
    }
}

#[test]
fn a_mode_for_pipes_is_refused_on_http() {
    let status = Command::new(HOSTILE)
        .args(["stdoutnoise", "--http", "127.0.0.1:0"])
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(!status.success());
}

#[test]
fn an_oversized_answer_has_the_size_asked_for() {
    for mode in ["bigline", "b64bomb"] {
        let mut server = Server::start(&[mode, "--bytes", "200000"]);
        server.call(1, "trigger", json!({}));
        let line = server.line().unwrap();
        assert!((200_000..200_200).contains(&line.len()), "{mode}: {}", line.len());
        assert!(serde_json::from_slice::<Value>(&line).is_ok(), "{mode}");
    }
    let mut server = Server::start(&["hugelist"]);
    server.request(1, "tools/list", json!({}));
    assert!(server.line().unwrap().len() > 24_000_000);
}

#[test]
fn a_flood_has_no_end_of_line() {
    let mut server = Server::start(&["nonewline"]);
    server.call(1, "trigger", json!({}));
    let mut flood = vec![0; 4 << 20];
    server.output.read_exact(&mut flood).unwrap();
    assert!(!flood.contains(&b'\n'));
}

#[test]
fn bytes_of_a_call_are_what_the_mode_says() {
    let first_line = |mode: &str| {
        let mut server = Server::start(&[mode]);
        server.call(1, "trigger", json!({}));
        server.line().unwrap()
    };
    let count = |line: &[u8], byte: u8| line.iter().filter(|other| **other == byte).count();
    assert!(count(&first_line("deep"), b'[') >= 10_000);
    assert!(std::str::from_utf8(&first_line("latin1")).is_err());
    assert!(first_line("batch").starts_with(b"["));
    assert_eq!(first_line("crlf"), b"\r\n");
    let twice = String::from_utf8(first_line("dupkey")).unwrap();
    assert_eq!(twice.matches("\"result\"").count(), 2);
    assert!(String::from_utf8(first_line("case")).unwrap().contains("re\u{17f}ult"));
    // The child is gone, and half an answer is all there is.
    let half = first_line("exitmid");
    assert!(half.starts_with(b"{") && !half.ends_with(b"}\n"), "{half:?}");
}

#[test]
fn cursors_loop_renew_or_are_empty() {
    let mut server = Server::start(&["loopcursor"]);
    assert_eq!(server.list(1, None)["nextCursor"], server.list(2, Some("again"))["nextCursor"]);
    let mut server = Server::start(&["freshcursor"]);
    assert_ne!(server.list(1, None)["nextCursor"], server.list(2, Some("page-0"))["nextCursor"]);
    let mut server = Server::start(&["emptycursor"]);
    assert_eq!(server.list(1, None)["nextCursor"], "");
    assert_eq!(server.list(2, Some("")).get("nextCursor"), None);
}

#[test]
fn tools_change_after_the_first_call_with_and_without_notice() {
    for quiet in [true, false] {
        let mut server = Server::start(&["rugpull"]);
        let before = server.list(1, None);
        server.call(2, "trigger", json!({ "quiet": quiet }));
        let first: Value = serde_json::from_slice(&server.line().unwrap()).unwrap();
        assert_eq!(first.get("id").is_some(), quiet, "{first}");
        if !quiet {
            server.answer(2).unwrap();
        }
        assert_ne!(server.list(3, None), before);
    }
}

#[test]
fn an_asking_server_tells_what_it_got() {
    let mut server = Server::start(&["elicit", "--count", "3"]);
    server.call(1, "trigger", json!({}));
    let outcomes = [
        json!({ "result": { "action": "decline" } }),
        json!({ "result": { "action": "accept" } }),
        json!({ "error": { "code": -32601, "message": "no" } }),
    ];
    for mut outcome in outcomes {
        let question: Value = serde_json::from_slice(&server.line().unwrap()).unwrap();
        assert_eq!(question["method"], "elicitation/create");
        outcome["jsonrpc"] = "2.0".into();
        outcome["id"] = question["id"].clone();
        server.send(&outcome);
    }
    let counts: Value = serde_json::from_str(&server.text(1)).unwrap();
    assert_eq!(counts, json!({ "asked": 3, "granted": 1, "declined": 1, "errors": 1 }));
}

#[test]
fn what_a_server_was_given_is_told() {
    let mut server = Server::start(&["envdump"]);
    server.call(1, "trigger", json!({}));
    let environment: Value = serde_json::from_str(&server.text(1)).unwrap();
    assert_eq!(environment["HOSTILE_CANARY"], "sings");
    let mut server = Server::start(&["fddump"]);
    server.call(1, "trigger", json!({}));
    let descriptors: Value = serde_json::from_str(&server.text(1)).unwrap();
    assert!(descriptors["1"].as_str().unwrap().starts_with("pipe:"), "{descriptors}");
}

#[test]
fn a_misbehaviour_can_be_moved_to_another_phase() {
    let mut server = Server::start(&["hang", "--at", "list"]);
    server.request(1, "tools/list", json!({}));
    server.call(2, "trigger", json!({}));
    let first: Value = serde_json::from_slice(&server.line().unwrap()).unwrap();
    assert_eq!(first["id"], 2);
}

/// The session of a process; 0 where its leader is outside our PID namespace, as in a container
/// that was entered from outside, which `getsid` of `rustix` cannot express.
fn session_of(pid: u32) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields = stat.rsplit_once(')').unwrap().1;
    fields.split_ascii_whitespace().nth(3).unwrap().parse().unwrap()
}

#[test]
fn a_grandchild_outlives_its_parents_in_a_session_of_its_own() {
    let mut server = Server::start(&["daemonize", "--mark", "outliving"]);
    server.initialize(1);
    server.call(2, "trigger", json!({}));
    let pid: i32 = server.text(2).parse().unwrap();
    let parent = server.child.id();
    drop(server);
    let grandchild = Pid::from_raw(pid).unwrap();
    test_kill_process(grandchild).unwrap();
    let session = session_of(pid.cast_unsigned());
    // A parent may go on before the kernel shows the new program's words.
    let shown = || std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap();
    let command = std::iter::repeat_with(shown).take(10_000).find(|words| !words.is_empty());
    let command = command.unwrap_or_default();
    kill_process(grandchild, Signal::KILL).unwrap();
    assert_ne!(session, session_of(std::process::id()));
    assert_ne!(session, parent);
    assert!(command.contains("outliving"), "{command}");
}

#[test]
fn neither_sigterm_nor_the_end_of_stdin_ends_a_server_that_stays() {
    let mut server = Server::start(&["ignoreterm"]);
    server.initialize(1);
    server.answer(1).unwrap();
    let pid = Pid::from_child(&server.child);
    kill_process(pid, Signal::TERM).unwrap();
    server.request(2, "ping", json!({}));
    assert!(server.answer(2).is_some());
    server.input = None;
    kill_process(pid, Signal::TERM).unwrap();
    // No event says that something will not happen; an ordinary mode ends within this time.
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(server.child.try_wait().unwrap().is_none());
}
