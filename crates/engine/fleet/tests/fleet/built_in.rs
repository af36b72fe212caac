//! A server inside this process that notes what it is asked.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::{Notify, mpsc};
use toolgate_fleet::{BuiltInServer, FleetServer};
use toolgate_model::TransportSpec;

use crate::{member, spec};

/// The server.
pub struct Noting {
    asked: mpsc::UnboundedSender<(String, Value)>,
    refused: Mutex<Option<&'static str>>,
    crash: Notify,
}

impl Noting {
    /// The server, and what it is asked: method and params.
    pub fn new() -> (Arc<Self>, mpsc::UnboundedReceiver<(String, Value)>) {
        let (asked, asks) = mpsc::unbounded_channel();
        let server = Self { asked, refused: Mutex::default(), crash: Notify::new() };
        (Arc::new(server), asks)
    }

    /// It as a member of a fleet.
    pub fn member(self: &Arc<Self>) -> FleetServer {
        FleetServer {
            built_in: Some(Arc::new(Shared(self.clone()))),
            ..member(spec(TransportSpec::BuiltIn))
        }
    }

    /// This method is refused from now on.
    pub fn refuse(&self, method: &'static str) {
        *self.refused.lock().unwrap() = Some(method);
    }

    /// Its connection ends.
    pub fn crash(&self) {
        self.crash.notify_one();
    }

    async fn talk(self: Arc<Self>, pipe: DuplexStream) {
        let (input, mut output) = tokio::io::split(pipe);
        let mut lines = BufReader::new(input).lines();
        loop {
            let line = tokio::select! {
                line = lines.next_line() => line,
                () = self.crash.notified() => return,
            };
            let Ok(Some(line)) = line else { return };
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"].is_null() {
                continue;
            }
            let answer = self.answer(&message);
            output.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
        }
    }

    fn answer(&self, message: &Value) -> Value {
        let method = message["method"].as_str().unwrap();
        self.asked.send((method.to_owned(), message["params"].clone())).unwrap();
        let id = &message["id"];
        if *self.refused.lock().unwrap() == Some(method) {
            return json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}});
        }
        let result = match method {
            "initialize" => json!({
                "protocolVersion": "2025-11-25", "serverInfo": {"name": "it", "version": "1"},
                "capabilities": {"resources": {"subscribe": true}, "extensions": {"test/it": {}}},
            }),
            "resources/list" => json!({"resources": []}),
            "resources/templates/list" => json!({"resourceTemplates": []}),
            _ => json!({}),
        };
        json!({"jsonrpc": "2.0", "id": id, "result": result})
    }
}

struct Shared(Arc<Noting>);

impl BuiltInServer for Shared {
    fn serve(&self, pipe: DuplexStream) {
        tokio::spawn(self.0.clone().talk(pipe));
    }
}
