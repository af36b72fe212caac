//! The input of a hook: the request that it answers, and the state that outlives requests.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::{Options, leaks, ordinary};

/// A message from the client.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct IncomingMessage {
    /// The id as it was spelled; absent on a notification.
    pub(super) id: Option<Box<RawValue>>,
    /// Absent on an answer to one of our requests.
    pub(super) method: Option<String>,
    #[serde(default)]
    pub(super) params: Value,
    pub(super) result: Option<Value>,
}

/// Counts of the client's answers to requests of the server.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AnswerCounts {
    pub(super) granted: u64,
    pub(super) declined: u64,
    pub(super) errors: u64,
}

impl AnswerCounts {
    pub(super) fn total(self) -> u64 {
        self.granted + self.declined + self.errors
    }
}

/// The state that lasts as long as the process.
#[derive(Debug)]
pub(super) struct HostileState {
    pub(super) options: Options,
    /// The descriptors that were open at start, and what they led to.
    pub(super) descriptors: BTreeMap<String, String>,
    /// The process that outlives its parents, in mode `daemonize`.
    pub(super) grandchild: OnceLock<u32>,
    /// How often `trigger` was called.
    pub(super) triggered: AtomicU64,
    stays: AtomicBool,
    answers: watch::Sender<AnswerCounts>,
}

impl HostileState {
    pub(super) fn new(options: Options) -> Arc<Self> {
        Arc::new(HostileState {
            options,
            descriptors: leaks::open_descriptors(),
            grandchild: OnceLock::new(),
            triggered: AtomicU64::new(0),
            stays: AtomicBool::new(false),
            answers: watch::Sender::default(),
        })
    }

    /// Counts the client's answer to a request of ours.
    pub(super) fn note_answer(&self, answer: &IncomingMessage) {
        let action = answer.result.as_ref().map(|result| result["action"].as_str());
        self.answers.send_modify(|answers| match action {
            None => answers.errors += 1,
            Some(None | Some("accept")) => answers.granted += 1,
            Some(Some(_)) => answers.declined += 1,
        });
    }

    pub(super) fn answers(&self) -> AnswerCounts {
        *self.answers.borrow()
    }

    pub(super) async fn wait_for_answers(&self, count: u64) {
        // The sender is ours, so the channel cannot close while we wait.
        let _ = self.answers.subscribe().wait_for(|answers| answers.total() >= count).await;
    }

    /// From now on neither SIGTERM nor the end of stdin ends the process.
    pub(super) fn stay(&self) -> io::Result<()> {
        // Once caught, a signal has lost its default action for the life of the process.
        drop(signal(SignalKind::terminate())?);
        self.stays.store(true, Ordering::Relaxed);
        Ok(())
    }

    pub(super) fn stays(&self) -> bool {
        self.stays.load(Ordering::Relaxed)
    }
}

/// The context of a hook for one request.
#[derive(Clone)]
pub(super) struct HookContext {
    pub(super) request: IncomingMessage,
    pub(super) shared: Arc<HostileState>,
}

impl HookContext {
    /// The request's id as it was spelled.
    pub(super) fn id(&self) -> &str {
        self.request.id.as_deref().map_or("null", RawValue::get)
    }

    /// What an ordinary server would say.
    pub(super) fn ordinary_response(&self) -> Bytes {
        ordinary::answer(self)
    }

    /// The ordinary answer under another id, spelled as given.
    pub(super) fn ordinary_response_with_id(&self, id: &str) -> Bytes {
        let id = RawValue::from_string(id.to_owned()).ok();
        let request = IncomingMessage { id, ..self.request.clone() };
        HookContext { request, shared: Arc::clone(&self.shared) }.ordinary_response()
    }

    /// An answer with this result.
    pub(super) fn result(&self, result: &Value) -> Bytes {
        Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, self.id()))
    }

    /// A tool result of one text.
    pub(super) fn text(&self, text: &str) -> Bytes {
        self.result(&text_result(text))
    }

    /// A page of tools that ends the list.
    pub(super) fn tools(&self, tools: &[Value]) -> Bytes {
        self.result(&json!({ "tools": tools }))
    }

    /// The argument of the called tool.
    pub(super) fn argument(&self, name: &str) -> &Value {
        &self.request.params["arguments"][name]
    }

    /// The token under which the client wants progress; one it never gave if it wants none.
    pub(super) fn progress_token(&self) -> Value {
        match &self.request.params["_meta"]["progressToken"] {
            Value::Null => json!("never-given"),
            token => token.clone(),
        }
    }
}

/// The result of a tool that says one text.
pub(super) fn text_result(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// A notification.
pub(super) fn notification(method: &str, params: &Value) -> Bytes {
    Bytes::from(json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string())
}

/// A request of ours to the client.
pub(super) fn client_request(id: &str, method: &str, params: &Value) -> Bytes {
    let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    Bytes::from(request.to_string())
}
