//! Both sides of a session in a test: the server the test plays, and who stands behind a call.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::{mpsc, watch};
use toolgate_model::{CapabilityKind, ServerName, ServerTimeouts};
use toolgate_session::{
    Answer, CallerId, Interactor, OutboundRequest, Question, RootsInteractor, Session,
    SessionError, SessionEventHandler, SessionOptions,
};
use toolgate_wire::view::LogLevel;
use toolgate_wire::{Era, Frame, MessageLimits};

/// The server's side of the pipe.
pub struct Server {
    lines: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    output: WriteHalf<DuplexStream>,
}

impl Server {
    /// The next message of the client.
    pub async fn next(&mut self) -> Value {
        serde_json::from_str(&self.line().await).unwrap()
    }

    /// Refuses a request.
    pub async fn refuse(&mut self, request: &Value, code: i64, data: Value) {
        let error = json!({ "code": code, "message": "no", "data": data });
        self.send(json!({ "jsonrpc": "2.0", "id": request["id"], "error": error })).await;
    }

    /// Whether the client has closed the pipe, and said nothing before.
    pub async fn is_left(&mut self) -> bool {
        self.lines.next_line().await.unwrap().is_none()
    }

    /// The next message as it was written.
    pub async fn line(&mut self) -> String {
        self.lines.next_line().await.unwrap().expect("the client is gone")
    }

    /// The next message, which must be this request or notification.
    pub async fn expect(&mut self, method: &str) -> Value {
        let message = self.next().await;
        assert_eq!(message["method"], method, "{message}");
        message
    }

    pub async fn send(&mut self, message: Value) {
        self.write(&message.to_string()).await;
    }

    pub async fn write(&mut self, line: &str) {
        self.output.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// Answers a request.
    pub async fn answer(&mut self, request: &Value, result: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })).await;
    }
}

/// What a session told its owner.
#[derive(Default)]
pub struct Notebook(watch::Sender<Vec<String>>);

impl Notebook {
    pub fn read(&self) -> Vec<String> {
        self.0.borrow().clone()
    }

    /// Everything it was told, once that is so many things.
    pub async fn holding(&self, count: usize) -> Vec<String> {
        let mut told = self.0.subscribe();
        told.wait_for(|told| told.len() >= count).await.unwrap().clone()
    }

    fn write(&self, text: String) {
        self.0.send_modify(|told| told.push(text));
    }
}

impl SessionEventHandler for Notebook {
    fn on_list_changed(&self, kind: CapabilityKind) {
        self.write(format!("changed {kind}"));
    }
    fn on_notification(&self, frame: Frame) {
        let method = frame.method().unwrap();
        let about = frame.params().filter(|params| *params != b"{}" && frame.name().is_some());
        let about = about.map(|params| format!(" {}", String::from_utf8_lossy(params)));
        self.write(format!("{method}{}", about.unwrap_or_default()));
    }
    fn on_ended(&self, reason: &str) {
        self.write(format!("ended: {reason}"));
    }
}

/// Short enough for tests on a paused clock.
pub const TIMEOUTS: ServerTimeouts = ServerTimeouts {
    start: Some(Duration::from_secs(5)),
    call: Some(Duration::from_secs(10)),
    max: Some(Duration::from_secs(60)),
};

/// A session with a server that has just let it in.
pub async fn connected() -> (Arc<Session>, Server, Arc<Notebook>) {
    connected_on("2025-06-18").await
}

/// The same with a server that speaks this revision.
pub async fn connected_on(revision: &str) -> (Arc<Session>, Server, Arc<Notebook>) {
    connected_with(revision, json!({ "tools": {} })).await
}

/// The same with a server that declares these capabilities.
pub async fn connected_with(
    revision: &str,
    capabilities: Value,
) -> (Arc<Session>, Server, Arc<Notebook>) {
    let (opening, mut server, notebook) = greet(Some(Era::Legacy));
    let welcoming = async {
        let hello = server.expect("initialize").await;
        assert_eq!(hello["params"]["protocolVersion"], "2025-11-25");
        server.answer(&hello, initialized(revision, &capabilities)).await;
        server.expect("notifications/initialized").await;
    };
    let (session, ()) = tokio::join!(opening, welcoming);
    (Arc::new(session.unwrap()), server, notebook)
}

/// What a legacy server says when it lets us in.
pub fn initialized(revision: &str, capabilities: &Value) -> Value {
    json!({
        "protocolVersion": revision, "capabilities": capabilities,
        "serverInfo": { "name": "played", "version": "1" },
    })
}

/// What a modern server says of itself.
pub fn discovered(capabilities: &Value) -> Value {
    json!({
        "resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0,
        "cacheScope": "private", "capabilities": capabilities, "instructions": "be kind",
        "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "played", "version": "2" } },
    })
}

/// A session with a modern server on a pipe. What it is to listen for is acknowledged.
pub async fn modern(capabilities: Value) -> (Arc<Session>, Server, Arc<Notebook>) {
    let (opening, mut server, notebook) = greet(None);
    let listens = capabilities.to_string().contains("listChanged");
    let welcoming = async {
        let asked = server.expect("server/discover").await;
        server.answer(&asked, discovered(&capabilities)).await;
        if listens {
            let listen = server.expect("subscriptions/listen").await;
            server.send(acknowledged(&listen)).await;
        }
    };
    let (session, ()) = tokio::join!(opening, welcoming);
    (Arc::new(session.unwrap()), server, notebook)
}

/// The acknowledgement of all that a listen asks for.
pub fn acknowledged(listen: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {
        "notifications": listen["params"]["notifications"],
        "_meta": { "io.modelcontextprotocol/subscriptionId": listen["id"] },
    }})
}

/// What a session is opened with in these tests.
pub fn opening(era: Option<Era>, notebook: &Arc<Notebook>) -> SessionOptions {
    SessionOptions {
        server: ServerName::new("played").unwrap(),
        timeouts: TIMEOUTS,
        capabilities: Bytes::from_static(br#"{"roots":{"listChanged":true},"tasks":{}}"#),
        default_interactor: Arc::new(RootsInteractor::new(&["file:///configured".into()])),
        event_handler: notebook.clone(),
        era,
    }
}

/// A session that is being opened on a pipe, and the server at its other end.
pub fn greet(
    era: Option<Era>,
) -> (impl Future<Output = Result<Session, SessionError>>, Server, Arc<Notebook>) {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (input, output) = tokio::io::split(ours);
    let (their_input, their_output) = tokio::io::split(theirs);
    let server = Server { lines: BufReader::new(their_input).lines(), output: their_output };
    let notebook = Arc::new(Notebook::default());
    let opening = opening(era, &notebook);
    (Session::on_lines(input, output, opening), server, notebook)
}

/// Someone behind a call: hears, and answers with what the test says.
pub struct Person {
    scope: u64,
    pub capabilities: Bytes,
    pub level: Option<LogLevel>,
    pub heard: mpsc::UnboundedSender<Value>,
    pub asked: mpsc::UnboundedSender<(Question, tokio::sync::oneshot::Sender<Answer>)>,
}

pub struct Ears {
    pub heard: mpsc::UnboundedReceiver<Value>,
    pub asked: mpsc::UnboundedReceiver<(Question, tokio::sync::oneshot::Sender<Answer>)>,
}

pub fn person(scope: u64) -> (Arc<Person>, Ears) {
    let (heard, hears) = mpsc::unbounded_channel();
    let (asked, asks) = mpsc::unbounded_channel();
    let capabilities = Bytes::from_static(br#"{"elicitation":{"form":{}}}"#);
    let person = Person { scope, capabilities, level: None, heard, asked };
    (Arc::new(person), Ears { heard: hears, asked: asks })
}

/// The same, who wants to hear log lines from this level on.
pub fn curious(level: LogLevel) -> (Arc<Person>, Ears) {
    let (person, ears) = person(1);
    let person = Person {
        level: Some(level),
        scope: 1,
        capabilities: person.capabilities.clone(),
        heard: person.heard.clone(),
        asked: person.asked.clone(),
    };
    (Arc::new(person), ears)
}

impl Interactor for Person {
    fn scope(&self) -> CallerId {
        CallerId(self.scope)
    }
    fn capabilities(&self) -> Bytes {
        self.capabilities.clone()
    }
    fn level(&self) -> Option<LogLevel> {
        self.level
    }
    fn tell(&self, event: Frame) {
        self.heard.send(serde_json::from_slice(event.bytes()).unwrap()).unwrap();
    }
    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        let (send, answer) = tokio::sync::oneshot::channel();
        self.asked.send((question, send)).unwrap();
        Box::pin(async { answer.await.unwrap_or(Answer::Unsupported) })
    }
}

/// A call of a tool on its way.
pub fn call(request: &str, person: &Arc<Person>) -> OutboundRequest {
    let frame = Frame::parse(Bytes::copy_from_slice(request.as_bytes()), &MessageLimits::default());
    OutboundRequest { frame: frame.unwrap(), rename: None, interactor: person.clone() }
}

/// A request for the tool `work`, with whatever else its params hold.
pub fn request(more: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{{"name":"work"{more}}}}}"#
    )
}
