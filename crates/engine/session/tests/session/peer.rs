//! Both sides of a session in a test: the server the test plays, and who stands behind a call.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::mpsc;
use toolgate_model::{CapabilityKind, ServerName, Timeouts};
use toolgate_session::{
    Ambient, Answer, Interactor, Opening, Outbound, Owner, Question, Scope, Session,
};
use toolgate_wire::{Frame, Limits};

/// The server's side of the pipe.
pub struct Server {
    lines: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    output: WriteHalf<DuplexStream>,
}

impl Server {
    /// The next message of the client.
    pub async fn next(&mut self) -> Value {
        let line = self.lines.next_line().await.unwrap().expect("the client is gone");
        serde_json::from_str(&line).unwrap()
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
pub struct Notebook(Mutex<Vec<String>>);

impl Notebook {
    pub fn read(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    fn write(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }
}

impl Owner for Notebook {
    fn list_changed(&self, kind: CapabilityKind) {
        self.write(format!("changed {kind}"));
    }
    fn notified(&self, frame: Frame) {
        self.write(frame.method().unwrap().into_owned());
    }
    fn ended(&self, reason: &str) {
        self.write(format!("ended: {reason}"));
    }
}

/// Short enough for tests on a paused clock.
pub const TIMEOUTS: Timeouts = Timeouts {
    start: Duration::from_secs(5),
    call: Duration::from_secs(10),
    max: Duration::from_secs(60),
};

/// A session with a server that has just let it in.
pub async fn connected() -> (Arc<Session>, Server, Arc<Notebook>) {
    connected_on("2025-06-18").await
}

/// The same with a server that speaks this revision.
pub async fn connected_on(revision: &str) -> (Arc<Session>, Server, Arc<Notebook>) {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (input, output) = tokio::io::split(ours);
    let (their_input, their_output) = tokio::io::split(theirs);
    let mut server = Server { lines: BufReader::new(their_input).lines(), output: their_output };
    let notebook = Arc::new(Notebook::default());
    let opening = Opening {
        server: ServerName::new("played").unwrap(),
        timeouts: TIMEOUTS,
        capabilities: Bytes::from_static(b"{}"),
        ambient: Arc::new(Ambient::new(&["file:///configured".into()])),
        owner: notebook.clone(),
    };
    let opening = Session::on_lines(input, output, opening);
    let welcoming = async {
        let hello = server.expect("initialize").await;
        assert_eq!(hello["params"]["protocolVersion"], "2025-11-25");
        server
            .answer(
                &hello,
                json!({
                    "protocolVersion": revision, "capabilities": { "tools": {} },
                    "serverInfo": { "name": "played", "version": "1" },
                }),
            )
            .await;
        server.expect("notifications/initialized").await;
    };
    let (session, ()) = tokio::join!(opening, welcoming);
    (Arc::new(session.unwrap()), server, notebook)
}

/// Someone behind a call: hears, and answers with what the test says.
pub struct Person {
    scope: u64,
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
    (Arc::new(Person { scope, heard, asked }), Ears { heard: hears, asked: asks })
}

impl Interactor for Person {
    fn scope(&self) -> Scope {
        Scope(self.scope)
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
pub fn call(request: &str, person: &Arc<Person>) -> Outbound {
    let frame = Frame::parse(Bytes::copy_from_slice(request.as_bytes()), &Limits::default());
    Outbound { frame: frame.unwrap(), rename: None, port: person.clone() }
}

/// A request for the tool `work`, with whatever else its params hold.
pub fn request(more: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{{"name":"work"{more}}}}}"#
    )
}
