//! Clients for the kit's own tests: raw lines over stdio, raw requests over HTTP.

#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::disallowed_methods, reason = "the peers under test are real processes")]

use std::process::Stdio;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// A server process, its stdin and the lines of its stdout.
pub struct Server {
    _child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Server {
    /// Starts a server.
    pub fn start(program: &str, flags: &[&str]) -> Self {
        let mut child = Command::new(program)
            .args(flags)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { _child: child, stdin, lines }
    }

    /// Starts a server on stdio and opens a session with these client capabilities.
    pub async fn open(program: &str, flags: &[&str], capabilities: Value) -> Self {
        let mut server = Self::start(program, &[&["--stdio"], flags].concat());
        let opened = server.ask(0, "initialize", initialize(capabilities)).await;
        assert!(opened["result"]["protocolVersion"].is_string(), "{opened}");
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        server
    }

    /// Sends one line.
    pub async fn send_line(&mut self, line: &str) {
        self.stdin.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// Sends one message.
    pub async fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string()).await;
    }

    /// The next line.
    pub async fn line(&mut self) -> String {
        self.lines.next_line().await.unwrap().expect("the server still speaks")
    }

    /// The next message.
    pub async fn next(&mut self) -> Value {
        serde_json::from_str(&self.line().await).unwrap()
    }

    /// The next message that has this member with this value; others are skipped.
    pub async fn next_with(&mut self, member: &str, value: impl Into<Value>) -> Value {
        let value = value.into();
        loop {
            let message = self.next().await;
            if message[member] == value {
                return message;
            }
        }
    }

    /// Sends a request and waits for its answer, whatever comes between.
    pub async fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.send(&request(id, method, params)).await;
        loop {
            let message = self.next_with("id", id).await;
            if message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Calls a tool and waits for the answer.
    pub async fn call(&mut self, id: u64, tool: &str, arguments: Value) -> Value {
        self.ask(id, "tools/call", json!({ "name": tool, "arguments": arguments })).await
    }
}

/// A request.
pub fn request(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// What a client opens a session with.
pub fn initialize(capabilities: Value) -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": capabilities,
        "clientInfo": { "name": "test", "version": "0" },
    })
}

/// The text of a tool result's first block.
pub fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

/// A client of an HTTP endpoint.
pub struct Http {
    _server: Server,
    authority: String,
    /// The session, once it is open.
    pub session: Option<String>,
}

impl Http {
    /// Starts a server on HTTP.
    pub async fn start(program: &str, flags: &[&str]) -> Self {
        let flags = [&["--http", "127.0.0.1:0", "--until-eof"], flags].concat();
        let mut server = Server::start(program, &flags);
        let url = server.line().await;
        let authority = url.strip_prefix("http://").and_then(|url| url.strip_suffix("/mcp"));
        Self { authority: authority.unwrap().to_owned(), _server: server, session: None }
    }

    /// Starts a server on HTTP and opens a session.
    pub async fn open(program: &str, flags: &[&str]) -> Self {
        let mut client = Self::start(program, flags).await;
        client.initialize().await;
        client
    }

    /// Opens a session.
    pub async fn initialize(&mut self) {
        self.session = None;
        let opened = self.post(&request(0, "initialize", initialize(json!({})))).await;
        assert_eq!(opened.status(), 200);
        let session = opened.headers()["mcp-session-id"].to_str().unwrap();
        self.session = Some(session.to_owned());
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(self.post(&initialized).await.status(), 202);
    }

    /// Posts one message.
    pub async fn post(&self, message: &Value) -> Response<Incoming> {
        self.send("POST", &[], message.to_string()).await
    }

    /// Sends one request with extra headers.
    pub async fn send(
        &self,
        method: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> Response<Incoming> {
        let stream = TcpStream::connect(&self.authority).await.unwrap();
        let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream));
        let (mut sender, connection) = handshake.await.unwrap();
        tokio::spawn(connection);
        let mut request = Request::builder()
            .method(method)
            .uri("/mcp")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", &self.authority);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        sender.send_request(request.body(Full::new(Bytes::from(body))).unwrap()).await.unwrap()
    }
}

/// The whole body as text.
pub async fn body(response: Response<Incoming>) -> String {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The data of an event stream's events, in order; events without data are left out.
pub fn events(stream: &str) -> Vec<String> {
    let data = stream.split("\n\n").map(|event| {
        let lines: Vec<&str> =
            event.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
        lines.join("\n")
    });
    data.filter(|data| !data.is_empty()).collect()
}
