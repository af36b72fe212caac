//! The recorder between real peers: nothing is changed, nothing held back, everything written down.
//!
//! They do NOT hold a recording against the protocol's schemas; those are installed with the peers.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test fails by panicking
#![allow(clippy::disallowed_methods)] // the peers are started as processes, without `launch`

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::{Value, json};
use toolgate_testkit::recorder::{MessageDirection, RecordedTraffic};

const ECHO: &str = env!("CARGO_BIN_EXE_echo");
const LOAD: &str = env!("CARGO_BIN_EXE_load");
const RECORDER: &str = env!("CARGO_BIN_EXE_recorder");

/// A log of this test's own, gone with it.
struct Log(PathBuf);

impl Log {
    fn new(name: &str) -> Self {
        let file = format!("recorder-{}-{name}.jsonl", std::process::id());
        Log(Path::new(env!("CARGO_TARGET_TMPDIR")).join(file))
    }

    fn read(&self) -> RecordedTraffic {
        RecordedTraffic::read(&self.0).unwrap()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A process that prints its URL and ends with its test.
struct Served {
    child: Child,
    url: String,
}

impl Served {
    fn start(program: &str, arguments: &[&str]) -> Self {
        let mut child =
            Command::new(program).args(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
        Served { child, url: url.trim().to_owned() }
    }

    fn recorder(log: &Log, to: &str) -> Self {
        Self::start(RECORDER, &["--log", log.0.to_str().unwrap(), "--to", to])
    }

    fn connect(&self) -> TcpStream {
        let authority = self.url.strip_prefix("http://").unwrap().split('/').next().unwrap();
        TcpStream::connect(authority).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_session_over_http_is_written_down_message_by_message() {
    let log = Log::new("session");
    let echo = Served::start(ECHO, &["--http", "127.0.0.1:0"]);
    let recorder = Served::recorder(&log, &echo.url);
    assert!(recorder.url.ends_with("/mcp"), "{}", recorder.url);
    let run = ["--url", &recorder.url, "--case", "session", "--calls", "1"];
    assert!(Command::new(LOAD).args(run).stdout(Stdio::null()).status().unwrap().success());

    let recording = log.read();
    let methods: Vec<Value> = recording
        .messages(MessageDirection::ToServer)
        .map(|message| message["method"].clone())
        .collect();
    assert_eq!(methods, ["initialize", "notifications/initialized", "tools/list"]);
    assert_eq!(recording.messages(MessageDirection::ToClient).count(), 2);
    let heads: Vec<_> = recording.entries.iter().map(|entry| entry.http.clone().unwrap()).collect();
    assert!(heads[1].headers.contains_key("mcp-session-id"), "{heads:?}");
    assert_eq!(heads[3].status, Some(202));
    assert_eq!(heads[6].method.as_deref(), Some("DELETE"));
    assert_eq!(heads[6].headers["mcp-session-id"], heads[1].headers["mcp-session-id"]);
}

#[test]
fn an_event_passes_while_its_stream_is_still_open() {
    let log = Log::new("stream");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("http://{}/mcp", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        while !lines.next().unwrap().unwrap().is_empty() {}
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(b": hi\n\nevent: message\ndata: {\"n\":1}\n\n").unwrap();
        // The client leaves: we must hear of it.
        assert_eq!(stream.read(&mut [0]).unwrap_or(0), 0);
    });
    let recorder = Served::recorder(&log, &target);
    let mut client = recorder.connect();
    client.write_all(b"GET /mcp HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\n\r\n").unwrap();
    let mut heard = BufReader::new(&client).lines().map(Result::unwrap);
    assert!(heard.any(|line| line == "data: {\"n\":1}"));
    let recording = log.read();
    assert_eq!(
        recording.messages(MessageDirection::ToClient).collect::<Vec<_>>(),
        [json!({ "n": 1 })]
    );
    assert_eq!(recording.entries[2].event.as_deref(), Some("message"));
    client.shutdown(std::net::Shutdown::Both).unwrap();
    server.join().unwrap();
}

#[test]
fn a_server_on_stdio_is_wrapped_and_ends_as_it_would() {
    let log = Log::new("stdio");
    let words = ["--log", log.0.to_str().unwrap(), "--", ECHO, "--stdio"];
    let mut wrapped = Command::new(RECORDER)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let asked = "{\"jsonrpc\":\"2.0\",\"id\":1e0, \"method\":\"ping\"}\r\nnot json\n";
    wrapped.stdin.take().unwrap().write_all(asked.as_bytes()).unwrap();
    let output = wrapped.wait_with_output().unwrap();
    assert!(output.status.success());
    let answers = String::from_utf8(output.stdout).unwrap();
    assert!(answers.starts_with("{\"jsonrpc\":\"2.0\",\"id\":1e0,\"result\":{}}\n"), "{answers}");

    let entries = log.read().entries;
    let of = |direction| entries.iter().filter(move |entry| entry.direction == direction);
    let spelled: Vec<_> = of(MessageDirection::ToServer)
        .map(|entry| entry.message.as_ref().map(|raw| raw.get()))
        .collect();
    assert_eq!(spelled, [Some(r#"{"jsonrpc":"2.0","id":1e0, "method":"ping"}"#), None]);
    assert_eq!(
        of(MessageDirection::ToServer).next_back().unwrap().text.as_deref(),
        Some("not json")
    );
    assert_eq!(of(MessageDirection::ToClient).count(), 2);
    assert!(entries.iter().all(|entry| entry.connection == entries[0].connection));
}

#[test]
fn a_wrapped_server_that_fails_fails_with_its_own_code() {
    let log = Log::new("code");
    let words = ["--log", log.0.to_str().unwrap(), "--", "sh", "-c", "exit 7"];
    let ended = Command::new(RECORDER).args(words).stdin(Stdio::null()).status().unwrap();
    assert_eq!(ended.code(), Some(7));
}
