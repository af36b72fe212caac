//! A server inside this process whose definitions change without a word.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::Notify;
use toolgate_fleet::BuiltInServer;

const LIST_CHANGED: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n";

/// The server. Clones are the same one.
#[derive(Clone, Default)]
pub struct Silent(Arc<Inner>);

#[derive(Default)]
struct Inner {
    version: AtomicUsize,
    lists: AtomicUsize,
    connections: AtomicUsize,
    refuses: AtomicBool,
    dies_when_asked: AtomicBool,
    announces_when_asked: AtomicBool,
    takes: Mutex<Duration>,
    die: Notify,
    tell: Notify,
    told: Notify,
}

impl Silent {
    pub fn new() -> Self {
        let server = Self::default();
        server.change();
        server
    }

    /// Its tool is described otherwise from now on.
    pub fn change(&self) {
        self.0.version.fetch_add(1, SeqCst);
    }

    /// It takes this long to list, from now on.
    pub fn take(&self, long: Duration) {
        *self.0.takes.lock().unwrap() = long;
    }

    fn takes(&self) -> Duration {
        *self.0.takes.lock().unwrap()
    }

    /// It refuses to list, or does not.
    pub fn refuse(&self, refuses: bool) {
        self.0.refuses.store(refuses, SeqCst);
    }

    /// Its connection ends.
    pub fn die(&self) {
        self.0.die.notify_one();
    }

    /// Its connection ends when it is asked for a list.
    pub fn die_when_asked(&self) {
        self.0.dies_when_asked.store(true, SeqCst);
    }

    /// It tells that its list changed while it answers a request for it, for once.
    pub fn announce_when_asked(&self) {
        self.0.announces_when_asked.store(true, SeqCst);
    }

    /// It tells that its list changed, for once.
    pub async fn tell(&self) {
        self.0.tell.notify_one();
        self.0.told.notified().await;
    }

    /// How often its tools were listed.
    pub fn lists(&self) -> usize {
        self.0.lists.load(SeqCst)
    }

    /// How often it was connected to.
    pub fn connections(&self) -> usize {
        self.0.connections.load(SeqCst)
    }

    async fn talk(self, pipe: DuplexStream) {
        let (input, mut output) = tokio::io::split(pipe);
        let mut lines = BufReader::new(input).lines();
        loop {
            let line = tokio::select! {
                line = lines.next_line() => line,
                () = self.0.die.notified() => return,
                () = self.0.tell.notified() => {
                    output.write_all(LIST_CHANGED).await.unwrap();
                    self.0.told.notify_one();
                    continue;
                }
            };
            let Ok(Some(line)) = line else { return };
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"].is_null() {
                continue;
            }
            let is_list = message["method"] == "tools/list";
            if is_list && self.0.announces_when_asked.swap(false, SeqCst) {
                output.write_all(LIST_CHANGED).await.unwrap();
            }
            let Some(answer) = self.answer(&message).await else { return };
            output.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
        }
    }

    async fn answer(&self, message: &Value) -> Option<Value> {
        let id = &message["id"];
        let result = match message["method"].as_str().unwrap() {
            "initialize" => json!({
                "protocolVersion": "2025-11-25", "serverInfo": {"name": "it", "version": "1"},
                "capabilities": {"tools": {"listChanged": true}},
            }),
            "tools/list" => {
                if self.0.dies_when_asked.swap(false, SeqCst) {
                    return None;
                }
                self.0.lists.fetch_add(1, SeqCst);
                let version = self.0.version.load(SeqCst);
                let began = tokio::time::Instant::now();
                // Whoever lets it go on while it takes its time is heard.
                while began.elapsed() < self.takes() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                if self.0.refuses.load(SeqCst) {
                    let error = json!({"code": -32000, "message": "no list today"});
                    return Some(json!({"jsonrpc": "2.0", "id": id, "error": error}));
                }
                json!({"tools": [{
                    "name": "tool", "description": format!("version {version}"),
                    "inputSchema": {"type": "object"},
                }]})
            }
            _ => json!({}),
        };
        Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }
}

impl BuiltInServer for Silent {
    fn serve(&self, pipe: DuplexStream) {
        self.0.connections.fetch_add(1, SeqCst);
        tokio::spawn(self.clone().talk(pipe));
    }
}
