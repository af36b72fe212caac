//! Servers that ask a question in every call of theirs, and who is asked.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::{Notify, mpsc, oneshot};
use toolgate_fleet::{BuiltInServer, FleetError, FleetServer, Pool};
use toolgate_model::{StdioSpec, TransportSpec};
use toolgate_session::{Answer, CallerId, Interactor, OutboundRequest, Question};
use toolgate_wire::{Frame, MessageLimits};

use crate::{member, spec};

/// A process that asks before it answers, with its own number.
pub fn process() -> TransportSpec {
    let script = r#"while read -r line; do
        id=$(printf %s "$line" | sed 's/.*"id":"*\([0-9]*\).*/\1/')
        case "$line" in
          *'"initialize"'*)
            echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"extensions":{"test/it":{}}},"serverInfo":{"name":"it","version":"1"}}}' ;;
          *tools/call*)
            call=$id
            echo '{"jsonrpc":"2.0","id":"7","method":"elicitation/create","params":{"message":"?","requestedSchema":{}}}' ;;
          *accept*)
            echo '{"jsonrpc":"2.0","id":'$call',"result":{"process":"'$$'"}}' ;;
          *server/discover*)
            echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"?"}}' ;;
        esac
      done"#;
    let args = vec!["-c".into(), script.into()];
    TransportSpec::Stdio(StdioSpec { command: "sh".into(), args, ..StdioSpec::default() })
}

/// A server inside this process that asks in calls of `ask` and answers others at once. Its answers
/// tell the connection they came on.
pub struct Asking {
    connections: AtomicUsize,
    /// How many it lets in.
    welcome: usize,
    ended: mpsc::UnboundedSender<usize>,
    /// Ends the newest connection.
    crash: Mutex<Arc<Notify>>,
}

impl Asking {
    /// The server, and which of its connections have ended.
    pub fn new(welcome: usize) -> (Arc<Self>, mpsc::UnboundedReceiver<usize>) {
        let (ended, ends) = mpsc::unbounded_channel();
        let (connections, crash) = (AtomicUsize::new(0), Mutex::default());
        (Arc::new(Self { connections, welcome, ended, crash }), ends)
    }

    pub fn member(self: &Arc<Self>) -> FleetServer {
        let built_in: Arc<dyn BuiltInServer> = Arc::new(Shared(self.clone()));
        FleetServer { built_in: Some(built_in), ..member(spec(TransportSpec::BuiltIn)) }
    }

    /// How many connections were made.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Its newest connection ends.
    pub fn crash_newest(&self) {
        self.crash.lock().unwrap().notify_one();
    }

    async fn talk(self: Arc<Self>, pipe: DuplexStream, number: usize, crash: Arc<Notify>) {
        let (input, mut output) = tokio::io::split(pipe);
        let mut lines = BufReader::new(input).lines();
        loop {
            let line = tokio::select! {
                line = lines.next_line() => line,
                () = crash.notified() => break,
            };
            let Ok(Some(line)) = line else { break };
            let message: Value = serde_json::from_str(&line).unwrap();
            let reply = self.reply(&message, number);
            if let Some(reply) = reply {
                output.write_all(format!("{reply}\n").as_bytes()).await.unwrap();
            }
        }
        let _ = self.ended.send(number);
    }

    fn reply(&self, message: &Value, number: usize) -> Option<Value> {
        let id = &message["id"];
        let answer = |id: &Value, result| Some(json!({"jsonrpc":"2.0","id":id,"result":result}));
        match message["method"].as_str() {
            Some("initialize") if number > self.welcome => {
                Some(json!({"jsonrpc":"2.0","id":id,"error":{"code":-32600,"message":"full"}}))
            }
            Some("initialize") => answer(
                id,
                json!({"protocolVersion": "2025-11-25", "capabilities": {"extensions": {"test/it": {}}},
                    "serverInfo": {"name": "it", "version": "1"}}),
            ),
            Some("tools/call") if message["params"]["name"] == "ask" => {
                Some(json!({"jsonrpc":"2.0","id":format!("q{id}"),"method":"elicitation/create",
                    "params":{"message":"?","requestedSchema":{}}}))
            }
            Some("tools/call") if !message["params"]["task"].is_null() => {
                answer(id, json!({ "task": { "taskId": format!("t{number}"), "ttl": 100_000 } }))
            }
            Some(_) if !id.is_null() => answer(id, json!({ "connection": number })),
            Some(_) => None,
            None => {
                let call: Value = id.as_str().unwrap()[1..].parse().unwrap();
                answer(&call, json!({ "connection": number, "was": message["result"] }))
            }
        }
    }
}

struct Shared(Arc<Asking>);

impl BuiltInServer for Shared {
    fn serve(&self, pipe: DuplexStream) {
        let number = self.0.connections.fetch_add(1, Ordering::Relaxed) + 1;
        let crash = Arc::<Notify>::default();
        *self.0.crash.lock().unwrap() = crash.clone();
        tokio::spawn(self.0.clone().talk(pipe, number, crash));
    }
}

/// Someone who calls; what he is asked waits for the test to answer it.
pub struct Caller {
    scope: u64,
    capabilities: &'static str,
    asked: mpsc::UnboundedSender<oneshot::Sender<()>>,
}

pub type UnderWay = tokio::task::JoinHandle<Result<Value, FleetError>>;
pub type Asked = mpsc::UnboundedReceiver<oneshot::Sender<()>>;

impl Caller {
    pub fn new(scope: u64) -> (Arc<Self>, Asked) {
        let (asked, asks) = mpsc::unbounded_channel();
        let capabilities = r#"{"elicitation":{}}"#;
        (Arc::new(Self { scope, capabilities, asked }), asks)
    }

    /// One who can be asked nothing.
    pub fn mute(scope: u64) -> Arc<Self> {
        let (asked, _) = mpsc::unbounded_channel();
        Arc::new(Self { scope, capabilities: "{}", asked })
    }

    /// A call of a tool, under way.
    pub fn call(self: &Arc<Self>, pool: &Arc<Pool>, params: &str) -> UnderWay {
        self.request(pool, "tools/call", params)
    }

    /// Any request, under way.
    pub fn request(self: &Arc<Self>, pool: &Arc<Pool>, method: &str, params: &str) -> UnderWay {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        let frame = Frame::parse(Bytes::from(text), &MessageLimits::default()).unwrap();
        let outbound = OutboundRequest { frame, rename: None, interactor: self.clone() };
        let pool = pool.clone();
        tokio::spawn(async move {
            let answer = pool.call(&outbound, || false).await?;
            Ok(serde_json::from_slice(answer.result().unwrap()).unwrap())
        })
    }
}

impl Interactor for Caller {
    fn scope(&self) -> CallerId {
        CallerId(self.scope)
    }
    fn capabilities(&self) -> Bytes {
        Bytes::from_static(self.capabilities.as_bytes())
    }
    fn tell(&self, _: Frame) {}
    fn ask(&self, _: Question) -> BoxFuture<'_, Answer> {
        let (answered, answer) = oneshot::channel();
        self.asked.send(answered).unwrap();
        Box::pin(async {
            answer.await.unwrap();
            Answer::Result(Bytes::from_static(br#"{"action":"accept"}"#))
        })
    }
}
