//! The conformance fixture as a client of HTTP+SSE meets it: a stream to listen to, and a place
//! to post to.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panic")]

mod support;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use support::{Server, request, text};
use tokio::net::TcpStream;

const FIXTURE: &str = env!("CARGO_BIN_EXE_fixture");

/// A client with its stream open.
struct Client {
    authority: String,
    stream: Incoming,
    unread: String,
    messages: String,
}

async fn send(authority: &str, method: &str, path: &str, body: String) -> Response<Incoming> {
    let stream = TcpStream::connect(authority).await.unwrap();
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.unwrap();
    tokio::spawn(connection);
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", authority)
        .header("content-type", "application/json")
        .header("accept", "text/event-stream");
    sender.send_request(request.body(Full::new(Bytes::from(body))).unwrap()).await.unwrap()
}

impl Client {
    /// Starts a server and opens a session with a client that can do everything.
    async fn open() -> (Server, Self) {
        let flags = ["--sse", "127.0.0.1:0", "--until-eof"];
        let mut server = Server::start(FIXTURE, &flags);
        let url = server.line().await;
        let authority = url.strip_prefix("http://").unwrap().strip_suffix("/sse").unwrap();
        let stream = send(authority, "GET", "/sse", String::new()).await.into_body();
        let authority = authority.to_owned();
        let mut client = Self { authority, stream, unread: String::new(), messages: String::new() };
        let (kind, place) = client.event().await;
        assert_eq!(kind, "endpoint");
        client.messages = place;
        let capabilities = json!({ "sampling": {}, "elicitation": {}, "roots": {} });
        let opened = client.ask(0, "initialize", support::initialize(capabilities)).await;
        assert_eq!(opened["result"]["protocolVersion"], "2025-11-25");
        client.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        (server, client)
    }

    async fn post(&self, message: &Value) {
        let posted = send(&self.authority, "POST", &self.messages, message.to_string()).await;
        assert_eq!(posted.status(), 202);
    }

    /// The next event's kind and data.
    async fn event(&mut self) -> (String, String) {
        while !self.unread.contains("\n\n") {
            let frame = self.stream.frame().await.expect("the stream is open").unwrap();
            self.unread.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
        }
        let (event, rest) = self.unread.split_once("\n\n").unwrap();
        let (kind, data) = event.split_once('\n').unwrap();
        let kind = kind.strip_prefix("event: ").unwrap().to_owned();
        let data = data.strip_prefix("data: ").unwrap().to_owned();
        self.unread = rest.to_owned();
        (kind, data)
    }

    async fn next(&mut self) -> Value {
        let (kind, data) = self.event().await;
        assert_eq!(kind, "message");
        serde_json::from_str(&data).unwrap()
    }

    async fn answer_to(&mut self, id: u64) -> Value {
        loop {
            let message = self.next().await;
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    async fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.post(&request(id, method, params)).await;
        self.answer_to(id).await
    }

    /// The next so many questions, all of them asked before any is answered.
    async fn questions(&mut self, count: usize) -> Vec<Value> {
        let mut questions = Vec::new();
        while questions.len() < count {
            let message = self.next().await;
            if message.get("method").is_some() && message.get("id").is_some() {
                questions.push(message);
            }
        }
        questions
    }

    async fn answer(&self, question: &Value, result: Value) {
        self.post(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result })).await;
    }
}

#[tokio::test]
async fn lists_and_calls_are_answered_on_the_stream() {
    let (_server, mut client) = Client::open().await;
    let tools = client.ask(1, "tools/list", json!({})).await["result"]["tools"].clone();
    assert!(tools.as_array().unwrap().iter().any(|tool| tool["name"] == "test_simple_text"));
    let answer = client.ask(2, "tools/call", json!({ "name": "test_simple_text" })).await;
    assert_eq!(text(&answer), "This is a simple text response for testing.");
}

#[tokio::test]
async fn questions_of_several_kinds_are_asked_at_once() {
    let (_server, mut client) = Client::open().await;
    let call = json!({ "name": "test_input_required_result_multiple_inputs" });
    client.post(&request(1, "tools/call", call)).await;
    for question in client.questions(3).await {
        let answer = match question["method"].as_str().unwrap() {
            "elicitation/create" => json!({ "action": "accept", "content": { "name": "Ada" } }),
            "roots/list" => json!({ "roots": [] }),
            _ => json!({
                "role": "assistant", "model": "m", "content": { "type": "text", "text": "Hello" },
            }),
        };
        client.answer(&question, answer).await;
    }
    assert_eq!(text(&client.answer_to(1).await), "Hello Ada, your roots are []");
}

#[tokio::test]
async fn progress_and_questions_of_a_call_come_in_turn() {
    let (_server, mut client) = Client::open().await;
    let call = json!({ "name": "ask_everything", "_meta": { "progressToken": 3 } });
    client.post(&request(1, "tools/call", call)).await;
    assert_eq!(client.next().await["params"]["progress"], 1);
    let question = client.next().await;
    let name = json!({ "action": "accept", "content": { "name": "Ada" } });
    client.answer(&question, name).await;
    assert_eq!(client.next().await["params"]["progress"], 2);
    let question = client.next().await;
    let content = json!({ "type": "text", "text": "Good day" });
    client
        .answer(&question, json!({ "role": "assistant", "model": "m", "content": content }))
        .await;
    assert_eq!(client.next().await["params"]["progress"], 3);
    assert_eq!(text(&client.next().await), "Ada: Good day");
}

#[tokio::test]
async fn the_questions_of_a_task_come_while_its_result_is_waited_for() {
    let (_server, mut client) = Client::open().await;
    let call = json!({ "name": "multi_input", "task": {} });
    let created = client.ask(1, "tools/call", call).await["result"]["task"].clone();
    let task = json!({ "taskId": created["taskId"] });
    client.post(&request(2, "tasks/result", task.clone())).await;
    let questions = client.questions(2).await;
    client.answer(&questions[0], json!({ "action": "decline" })).await;
    let waiting = client.ask(3, "tasks/get", task.clone()).await;
    assert_eq!(waiting["result"]["status"], "input_required");
    client.answer(&questions[1], json!({ "action": "decline" })).await;
    assert!(client.answer_to(2).await["result"]["content"].is_array());
    assert_eq!(client.ask(4, "tasks/get", task).await["result"]["status"], "completed");
}

#[tokio::test]
async fn with_its_stream_the_session_is_over() {
    let (_server, client) = Client::open().await;
    let Client { authority, stream, messages, .. } = client;
    drop(stream);
    let ping = request(1, "ping", json!({})).to_string();
    while send(&authority, "POST", &messages, ping.clone()).await.status() != 404 {}
}

#[tokio::test]
async fn streamable_http_is_not_spoken_here() {
    let (_server, client) = Client::open().await;
    assert_eq!(send(&client.authority, "POST", "/sse", "{}".to_owned()).await.status(), 405);
    assert_eq!(send(&client.authority, "POST", "/mcp", "{}".to_owned()).await.status(), 404);
}
