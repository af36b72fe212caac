//! A server on loopback HTTP that the test plays request by request.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use toolgate_session::{Session, SessionError};
use toolgate_transport::http::HttpEndpoint;
use toolgate_wire::Era;

use crate::peer::{Notebook, acknowledged, discovered, opening};

/// Where the client's requests arrive, whichever connection they come on.
pub struct HttpServer {
    url: String,
    requests: mpsc::UnboundedReceiver<Asked>,
}

/// One request, to be answered.
pub struct Asked {
    pub verb: String,
    pub headers: HashMap<String, String>,
    pub body: String,
    connection: TcpStream,
    more: mpsc::UnboundedSender<Asked>,
}

/// An answer that is given event by event.
pub struct Stream(Asked);

impl HttpServer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (more, requests) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                tokio::spawn(read(connection, more.clone()));
            }
        });
        Self { url, requests }
    }

    /// A session with this server, being opened.
    pub fn greet(
        &self,
        era: Option<Era>,
        notebook: &Arc<Notebook>,
    ) -> impl Future<Output = Result<Session, SessionError>> + use<> {
        let endpoint = HttpEndpoint::new(&self.url, []).unwrap();
        Session::on_http(endpoint, opening(era, notebook))
    }

    pub async fn next(&mut self) -> Asked {
        self.requests.recv().await.expect("the client is gone")
    }

    /// The next request, which must be of this method.
    pub async fn expect(&mut self, method: &str) -> Asked {
        let asked = self.next().await;
        assert_eq!(asked.json()["method"], method, "{}", asked.body);
        asked
    }
}

/// A session with a modern server on HTTP, and the stream it listens on if there is one.
pub async fn modern_on_http(
    capabilities: Value,
) -> (Arc<Session>, HttpServer, Arc<Notebook>, Option<Stream>) {
    let mut server = HttpServer::start().await;
    let notebook = Arc::new(Notebook::default());
    let opening = server.greet(None, &notebook);
    let listens = capabilities.to_string().contains("listChanged");
    let welcoming = async {
        let asked = server.expect("server/discover").await;
        asked.answer(discovered(&capabilities)).await;
        if !listens {
            return None;
        }
        let listen = server.expect("subscriptions/listen").await;
        let acknowledgement = acknowledged(&listen.json());
        let mut stream = listen.stream().await;
        stream.send(acknowledgement).await;
        Some(stream)
    };
    let (session, stream) = tokio::join!(opening, welcoming);
    (Arc::new(session.unwrap()), server, notebook, stream)
}

impl Asked {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// Answers with a result.
    pub async fn answer(self, result: Value) {
        let body = json!({ "jsonrpc": "2.0", "id": self.json()["id"], "result": result });
        self.reply(200, &body.to_string()).await;
    }

    /// Answers with an error.
    pub async fn refuse(self, status: u16, code: i64, data: Value) {
        let error = json!({ "code": code, "message": "no", "data": data });
        let body = json!({ "jsonrpc": "2.0", "id": self.json()["id"], "error": error });
        self.reply(status, &body.to_string()).await;
    }

    /// Answers with these bytes, and waits for the next request on the connection.
    pub async fn reply(mut self, status: u16, body: &str) {
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        self.connection.write_all((head + body).as_bytes()).await.unwrap();
        tokio::spawn(read(self.connection, self.more));
    }

    /// Begins to answer event by event.
    pub async fn stream(mut self) -> Stream {
        let head = "HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\n\
            transfer-encoding: chunked\r\n\r\n";
        self.connection.write_all(head.as_bytes()).await.unwrap();
        Stream(self)
    }

    /// Waits until the client closes the connection without having been answered.
    pub async fn closed(mut self) {
        assert_eq!(self.connection.read(&mut [0; 64]).await.unwrap_or(0), 0);
    }
}

impl Stream {
    pub async fn send(&mut self, message: Value) {
        let event = format!("data: {message}\n\n");
        let chunk = format!("{:x}\r\n{event}\r\n", event.len());
        self.0.connection.write_all(chunk.as_bytes()).await.unwrap();
    }

    /// Answers the request.
    pub async fn answer(&mut self, result: Value) {
        let id = self.0.json()["id"].clone();
        self.send(json!({ "jsonrpc": "2.0", "id": id, "result": result })).await;
    }

    /// Waits until the client closes the connection.
    pub async fn closed(self) {
        self.0.closed().await;
    }
}

/// Reads one request.
async fn read(mut connection: TcpStream, more: mpsc::UnboundedSender<Asked>) {
    let mut bytes = Vec::new();
    let (head, rest) = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = bytes.split_off(end + 4);
            break (String::from_utf8(std::mem::take(&mut bytes)).unwrap(), rest);
        }
        if connection.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return;
        }
    };
    let mut lines = head.lines();
    let verb = lines.next().unwrap().split(' ').next().unwrap().to_owned();
    let headers: HashMap<_, _> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = rest;
    while body.len() < length {
        connection.read_buf(&mut body).await.unwrap();
    }
    let body = String::from_utf8(body).unwrap();
    let again = more.clone();
    let _ = more.send(Asked { verb, headers, body, connection, more: again });
}
