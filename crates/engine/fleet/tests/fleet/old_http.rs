//! Servers that speak HTTP+SSE only.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use toolgate_fleet::ConnectReport;
use toolgate_model::{HttpSpec, HttpTransportKind, TransportSpec};

use crate::{details, fleet, member, name, spec};

/// A server of the old kind; everything but its two places gives what it was made with: a status,
/// and a body for the id of the request.
struct Old {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

type Streams = Arc<Mutex<Option<mpsc::UnboundedSender<Value>>>>;

type Elsewhere = (u16, fn(&Value) -> String);

impl Old {
    async fn new(status: u16) -> Self {
        Self::saying((status, |_| String::new())).await
    }

    async fn saying(elsewhere: Elsewhere) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let (seen, stream) = (asked.clone(), Streams::default());
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, elsewhere, seen.clone(), stream.clone()));
            }
        });
        Self { address, asked }
    }

    async fn examine(&self, kind: HttpTransportKind) -> ConnectReport {
        let url = format!("http://{}/sse", self.address);
        let transport = TransportSpec::Http(HttpSpec { url, kind, ..HttpSpec::default() });
        let (fleet, _store) = fleet(member(spec(transport))).await;
        fleet.test_connection(&name()).await.unwrap()
    }

    /// The requests so far: method and path.
    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(
    socket: TcpStream,
    elsewhere: Elsewhere,
    asked: Arc<Mutex<Vec<String>>>,
    streams: Streams,
) {
    let mut socket = BufReader::new(socket);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if socket.read_line(&mut head).await.unwrap() == 0 {
            return;
        }
    }
    let line: Vec<&str> = head.split(' ').take(2).collect();
    asked.lock().unwrap().push(line.join(" "));
    if line == ["GET", "/sse"] {
        let (sender, mut messages) = mpsc::unbounded_channel::<Value>();
        *streams.lock().unwrap() = Some(sender);
        let opening = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n\
                       event: endpoint\ndata: /messages?s=1\n\n";
        socket.write_all(opening.as_bytes()).await.unwrap();
        while let Some(message) = messages.recv().await {
            let event = format!("event: message\ndata: {message}\n\n");
            socket.write_all(event.as_bytes()).await.unwrap();
        }
        return;
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
    let mut body = vec![0; length.parse().unwrap()];
    socket.read_exact(&mut body).await.unwrap();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (status, text) = match line == ["POST", "/messages?s=1"] {
        true => (202, String::new()),
        false => (elsewhere.0, elsewhere.1(&message["id"])),
    };
    let length = text.len();
    let head =
        format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    socket.write_all(format!("{head}{text}").as_bytes()).await.unwrap();
    if status == 202
        && let Some(answer) = answer(&message)
    {
        streams.lock().unwrap().as_ref().unwrap().send(answer).unwrap();
    }
}

fn answer(message: &Value) -> Option<Value> {
    let id = message.get("id")?;
    let result = json!({
        "protocolVersion": "2024-11-05", "capabilities": {"tools": {"listChanged": true}},
        "serverInfo": {"name": "old", "version": "1"}, "tools": [],
    });
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

#[tokio::test]
async fn a_server_that_refuses_posts_is_tried_the_old_way() {
    for refusal in [400, 404, 405] {
        let server = Old::new(refusal).await;
        let report = server.examine(HttpTransportKind::Auto).await;
        let told = details(&report);
        assert!(told.contains(&"2024-11-05 over HTTP+SSE".into()), "{report:?}");
        assert!(told.iter().any(|it| it.contains(&format!("(HTTP {refusal})"))), "{report:?}");
        assert!(report.phases.iter().all(|phase| phase.failure.is_none()), "{report:?}");
    }
}

#[tokio::test]
async fn an_outage_is_no_reason_to_try_the_old_way() {
    let server = Old::new(503).await;
    let report = server.examine(HttpTransportKind::Auto).await;
    assert!(report.phases.last().unwrap().failure.is_some(), "{report:?}");
    assert!(!server.asked().contains(&"GET /sse".into()), "{:?}", server.asked());
}

#[tokio::test]
async fn what_the_declaration_says_is_done() {
    let server = Old::new(405).await;
    let report = server.examine(HttpTransportKind::Sse).await;
    assert!(details(&report).contains(&"2024-11-05 over HTTP+SSE".into()), "{report:?}");
    assert_eq!(server.asked()[..2], ["GET /sse", "POST /messages?s=1"]);
    let server = Old::new(405).await;
    let report = server.examine(HttpTransportKind::Streamable).await;
    assert!(report.phases.last().unwrap().failure.is_some(), "{report:?}");
    assert!(!server.asked().contains(&"GET /sse".into()), "{:?}", server.asked());
}

fn refusal(id: &Value, code: i64) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no"}}).to_string()
}

#[tokio::test]
async fn an_error_that_answers_nothing_is_no_reason_not_to_try_the_old_way() {
    for status in [400, 404, 405] {
        let server = Old::saying((status, |_| refusal(&Value::Null, -32000))).await;
        let report = server.examine(HttpTransportKind::Auto).await;
        assert!(details(&report).contains(&"2024-11-05 over HTTP+SSE".into()), "{report:?}");
    }
}

#[tokio::test]
async fn a_server_that_refuses_the_greeting_itself_is_not_tried_the_old_way() {
    let refusals: [Elsewhere; 2] =
        [(400, |id| refusal(id, -32602)), (400, |_| refusal(&Value::Null, -32022))];
    for refusal in refusals {
        let server = Old::saying(refusal).await;
        let report = server.examine(HttpTransportKind::Auto).await;
        assert!(report.phases.last().unwrap().failure.is_some(), "{report:?}");
        assert!(!server.asked().contains(&"GET /sse".into()), "{:?}", server.asked());
    }
}
