//! The client of a session, which the server can notify and ask.
//!
//! A message that belongs to a request goes to the same sink as its answer; a message of the
//! session goes to the session's own sink. On stdio both are the same pipe.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::{Notify, oneshot};

use super::message::{TestParams, TestRequestId, TestResponse};
use super::outcome::TestRpcError;

/// A destination for outgoing messages.
pub trait FrameSink: Send + Sync {
    /// Sends one message.
    fn send(&self, frame: String);

    /// Closes the connection but not the stream: the client is to come back for the rest.
    /// Carriers that cannot do this ignore it.
    fn pause(&self) {}
}

/// The client of a session.
pub struct ClientPeer {
    ambient: Arc<dyn FrameSink>,
    asked: Mutex<HashMap<TestRequestId, oneshot::Sender<Result<String, String>>>>,
    underway: Mutex<HashMap<TestRequestId, Arc<Notify>>>,
    next: AtomicU64,
}

impl ClientPeer {
    /// Creates a peer. Messages outside any request go to `ambient`.
    pub fn new(ambient: Arc<dyn FrameSink>) -> Arc<Self> {
        Arc::new(Self {
            ambient,
            asked: Mutex::default(),
            underway: Mutex::default(),
            next: AtomicU64::new(0),
        })
    }

    /// Tells the client something outside any request.
    pub fn notify(&self, method: &str, params: &Value) {
        self.ambient.send(notification(method, &params.to_string()));
    }

    /// Asks the client something outside any request.
    pub async fn ask(&self, method: &str, params: &Value) -> Result<Value, TestRpcError> {
        decode(self.ask_through(self.ambient.as_ref(), method, &params.to_string()).await)
    }

    /// Delivers an answer to the question that waits for it. Other answers are dropped.
    pub(super) fn resolve_answer(&self, response: TestResponse) {
        if let Some(waiting) = lock(&self.asked).remove(&response.id) {
            let _ = waiting.send(response.outcome);
        }
    }

    pub(super) fn begin(&self, id: &TestRequestId) -> Arc<Notify> {
        let stop = Arc::new(Notify::new());
        lock(&self.underway).insert(id.clone(), Arc::clone(&stop));
        stop
    }

    pub(super) fn end(&self, id: &TestRequestId) {
        lock(&self.underway).remove(id);
    }

    pub(super) fn cancel(&self, id: &TestRequestId) {
        if let Some(stop) = lock(&self.underway).get(id) {
            stop.notify_one();
        }
    }

    async fn ask_through(
        &self,
        outlet: &dyn FrameSink,
        method: &str,
        params: &str,
    ) -> Result<String, String> {
        let id = TestRequestId(self.next.fetch_add(1, Ordering::Relaxed).to_string());
        let (answer, waiting) = oneshot::channel();
        lock(&self.asked).insert(id.clone(), answer);
        let _question = ServerQuestionGuard { peer: self, outlet, id: &id };
        outlet.send(format!(
            r#"{{"jsonrpc":"2.0","id":{},"method":"{method}","params":{params}}}"#,
            id.0
        ));
        waiting.await.unwrap_or_else(|_| Err(r#"{"code":-32000,"message":"closed"}"#.to_owned()))
    }
}

/// Cancels a question to the client when the asking future is dropped.
struct ServerQuestionGuard<'a> {
    peer: &'a ClientPeer,
    outlet: &'a dyn FrameSink,
    id: &'a TestRequestId,
}

impl Drop for ServerQuestionGuard<'_> {
    fn drop(&mut self) {
        if lock(&self.peer.asked).remove(self.id).is_some() {
            let params = format!(r#"{{"requestId":{},"reason":"no longer needed"}}"#, self.id.0);
            self.outlet.send(notification("notifications/cancelled", &params));
        }
    }
}

/// One request that is being handled, with the way back to its sender.
pub struct TestCall {
    /// Its id, as the client spelled it.
    pub id: TestRequestId,
    /// The method's name.
    pub method: String,
    /// The parameters as sent.
    pub params: TestParams,
    /// The session's client.
    pub peer: Arc<ClientPeer>,
    pub(super) outlet: Arc<dyn FrameSink>,
}

impl TestCall {
    /// Tells the client something that belongs to this request.
    pub fn notify(&self, method: &str, params: &Value) {
        self.notify_raw(method, &params.to_string());
    }

    /// The same, with parameters in a spelling of the server's choice.
    pub fn notify_raw(&self, method: &str, params: &str) {
        self.outlet.send(notification(method, params));
    }

    /// Asks the client something that belongs to this request.
    pub async fn ask(&self, method: &str, params: &Value) -> Result<Value, TestRpcError> {
        decode(self.ask_raw(method, &params.to_string()).await)
    }

    /// The same in raw text both ways: the text of the client's `result`, or of its `error`.
    pub async fn ask_raw(&self, method: &str, params: &str) -> Result<String, String> {
        self.peer.ask_through(self.outlet.as_ref(), method, params).await
    }

    /// Closes this request's connection; its answer waits for the client to come back.
    pub fn pause(&self) {
        self.outlet.pause();
    }
}

fn notification(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
}

fn decode(answer: Result<String, String>) -> Result<Value, TestRpcError> {
    match answer {
        Ok(text) => serde_json::from_str(&text).map_err(TestRpcError::parse_error),
        Err(text) => Err(TestRpcError::from_text(&text)),
    }
}

/// Locks without caring for a poisoned mutex: a test server that panicked has already failed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
