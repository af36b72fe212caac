//! An HTTP client that sends exactly what a test says.

use std::net::SocketAddr;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use toolgate_transport::spool::BodyLimits;
use toolgate_transport::sse::{SseEvent, SseParser};

/// A client of one gateway. It opens a connection per request.
#[derive(Debug, Clone)]
pub(super) struct Http {
    pub(super) address: SocketAddr,
    path: String,
    headers: Vec<(String, String)>,
}

impl Http {
    pub(super) fn new(address: SocketAddr) -> Self {
        Self { address, path: "/mcp".into(), headers: Vec::new() }
            .with("accept", "application/json, text/event-stream")
            .with("content-type", "application/json")
            .with("host", &address.to_string())
    }

    /// The same client at another path.
    pub(super) fn at(&self, path: &str) -> Self {
        Self { path: path.into(), ..self.clone() }
    }

    /// The same client with a header set, or left out if the value is empty.
    pub(super) fn with(&self, name: &str, value: &str) -> Self {
        let mut other = self.clone();
        other.headers.retain(|(known, _)| known != name);
        if !value.is_empty() {
            other.headers.push((name.into(), value.into()));
        }
        other
    }

    /// The same client with one more header, whether or not there is one of that name.
    pub(super) fn and(&self, name: &str, value: &str) -> Self {
        let mut other = self.clone();
        other.headers.push((name.into(), value.into()));
        other
    }

    pub(super) async fn send(&self, verb: &str, path: &str, body: String) -> Reply {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        let connection = tokio::spawn(connection);
        let mut request = Request::builder().method(verb).uri(path);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(Bytes::from(body))).unwrap();
        let response = sender.send_request(request).await.unwrap();
        drop(connection);
        Reply { response }
    }

    pub(super) async fn post(&self, message: Value) -> Reply {
        self.send("POST", &self.path, message.to_string()).await
    }

    pub(super) async fn get(&self) -> Reply {
        self.send("GET", &self.path, String::new()).await
    }

    pub(super) async fn delete(&self) -> Reply {
        self.send("DELETE", &self.path, String::new()).await
    }

    /// Opens a session; the client given back names it.
    pub(super) async fn open(&self, revision: &str, capabilities: Value) -> Self {
        let reply = self.post(initialize(revision, capabilities)).await;
        assert_eq!(reply.status(), 200);
        let id = reply.header("mcp-session-id").unwrap();
        let session = self.with("mcp-session-id", &id);
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(session.post(initialized).await.status(), 202);
        session
    }

    /// A session of the newest legacy revision.
    pub(super) async fn session(&self) -> Self {
        self.open("2025-11-25", json!({})).await
    }
}

pub(super) fn initialize(revision: &str, capabilities: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": revision, "capabilities": capabilities,
        "clientInfo": {"name": "tester", "version": "1"},
    }})
}

pub(super) fn call(id: impl Into<Value>, tool: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": {
        "name": tool, "_meta": {"progressToken": "t"},
    }})
}

pub(super) fn request(id: impl Into<Value>, method: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method})
}

pub(super) fn cancelled(id: impl Into<Value>) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id.into()}})
}

/// A response.
pub(super) struct Reply {
    response: Response<Incoming>,
}

impl Reply {
    pub(super) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    pub(super) fn header(&self, name: &str) -> Option<String> {
        Some(self.response.headers().get(name)?.to_str().unwrap().to_owned())
    }

    pub(super) async fn bytes(self) -> Bytes {
        self.response.into_body().collect().await.unwrap().to_bytes()
    }

    pub(super) async fn json(self) -> Value {
        assert_eq!(self.header("content-type").as_deref(), Some("application/json"));
        serde_json::from_slice(&self.bytes().await).unwrap()
    }

    pub(super) fn raw(self) -> Raw {
        Raw(self.response.into_body())
    }

    pub(super) fn events(self) -> Events {
        assert_eq!(self.header("content-type").as_deref(), Some("text/event-stream"));
        Events {
            body: self.response.into_body(),
            splitter: SseParser::new(BodyLimits::default()),
            last: None,
        }
    }
}

/// A body, piece by piece.
pub(super) struct Raw(Incoming);

impl Raw {
    pub(super) async fn next(&mut self) -> Option<String> {
        let data = self.0.frame().await?.unwrap().into_data().unwrap();
        Some(String::from_utf8(data.to_vec()).unwrap())
    }
}

/// An event stream.
pub(super) struct Events {
    body: Incoming,
    splitter: SseParser,
    /// The id of the last event.
    pub(super) last: Option<String>,
}

impl Events {
    /// The next event; none at the end.
    pub(super) async fn next(&mut self) -> Option<SseEvent> {
        loop {
            if let Some(event) = self.splitter.next_event() {
                self.last = event.id.clone().or(self.last.take());
                return Some(event);
            }
            let frame = self.body.frame().await?.unwrap();
            self.splitter.push(&frame.into_data().unwrap()).unwrap();
        }
    }

    /// The next message; primers are passed over.
    pub(super) async fn message(&mut self) -> Option<Value> {
        loop {
            let event = self.next().await?;
            if !event.data.is_empty() {
                return Some(
                    serde_json::from_slice(&event.data.into_bytes().await.unwrap()).unwrap(),
                );
            }
        }
    }

    /// All messages up to the end.
    pub(super) async fn rest(mut self) -> Vec<Value> {
        let mut messages = Vec::new();
        while let Some(message) = self.message().await {
            messages.push(message);
        }
        messages
    }
}
