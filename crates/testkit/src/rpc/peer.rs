//! The other side of a session: what can be told to it and asked of it.
//!
//! A message may belong to a request (then it goes where that request's answer will go) or to the
//! session (then it goes to the ambient outlet). On stdio both are the same pipe.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::{Notify, oneshot};

use super::message::{Id, Params, Response};
use super::outcome::Fault;

/// A way out for messages.
pub trait Outlet: Send + Sync {
    /// Sends one message.
    fn send(&self, frame: String);

    /// Closes the connection but not the stream: the client is to come back for the rest.
    /// Carriers that cannot do this ignore it.
    fn pause(&self) {}
}

/// The client at the other end of a session.
pub struct Peer {
    ambient: Arc<dyn Outlet>,
    asked: Mutex<HashMap<Id, oneshot::Sender<Result<String, String>>>>,
    underway: Mutex<HashMap<Id, Arc<Notify>>>,
    next: AtomicU64,
}

impl Peer {
    /// A peer whose messages outside any request leave through `ambient`.
    pub fn new(ambient: Arc<dyn Outlet>) -> Arc<Self> {
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
    pub async fn ask(&self, method: &str, params: &Value) -> Result<Value, Fault> {
        decode(self.ask_through(self.ambient.as_ref(), method, &params.to_string()).await)
    }

    /// Hands an answer to whoever asked; an answer nobody waits for is dropped.
    pub(super) fn settle(&self, response: Response) {
        if let Some(waiting) = lock(&self.asked).remove(&response.id) {
            let _ = waiting.send(response.outcome);
        }
    }

    pub(super) fn begin(&self, id: &Id) -> Arc<Notify> {
        let stop = Arc::new(Notify::new());
        lock(&self.underway).insert(id.clone(), Arc::clone(&stop));
        stop
    }

    pub(super) fn end(&self, id: &Id) {
        lock(&self.underway).remove(id);
    }

    pub(super) fn cancel(&self, id: &Id) {
        if let Some(stop) = lock(&self.underway).get(id) {
            stop.notify_one();
        }
    }

    async fn ask_through(
        &self,
        outlet: &dyn Outlet,
        method: &str,
        params: &str,
    ) -> Result<String, String> {
        let id = Id(self.next.fetch_add(1, Ordering::Relaxed).to_string());
        let (answer, waiting) = oneshot::channel();
        lock(&self.asked).insert(id.clone(), answer);
        let _question = Question { peer: self, outlet, id: &id };
        outlet.send(format!(
            r#"{{"jsonrpc":"2.0","id":{},"method":"{method}","params":{params}}}"#,
            id.0
        ));
        waiting.await.unwrap_or_else(|_| Err(r#"{"code":-32000,"message":"closed"}"#.to_owned()))
    }
}

/// Takes a question back when whoever asked it stops waiting.
struct Question<'a> {
    peer: &'a Peer,
    outlet: &'a dyn Outlet,
    id: &'a Id,
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        if lock(&self.peer.asked).remove(self.id).is_some() {
            let params = format!(r#"{{"requestId":{},"reason":"no longer needed"}}"#, self.id.0);
            self.outlet.send(notification("notifications/cancelled", &params));
        }
    }
}

/// One request in the making: its content, and the way back to its sender.
pub struct Call {
    /// Its id, as the client spelled it.
    pub id: Id,
    /// The method's name.
    pub method: String,
    /// The parameters as sent.
    pub params: Params,
    /// The session's client.
    pub peer: Arc<Peer>,
    pub(super) outlet: Arc<dyn Outlet>,
}

impl Call {
    /// Tells the client something that belongs to this request.
    pub fn notify(&self, method: &str, params: &Value) {
        self.notify_raw(method, &params.to_string());
    }

    /// The same, with parameters in a spelling of the server's choice.
    pub fn notify_raw(&self, method: &str, params: &str) {
        self.outlet.send(notification(method, params));
    }

    /// Asks the client something that belongs to this request.
    pub async fn ask(&self, method: &str, params: &Value) -> Result<Value, Fault> {
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

fn decode(answer: Result<String, String>) -> Result<Value, Fault> {
    match answer {
        Ok(text) => serde_json::from_str(&text).map_err(Fault::parse_error),
        Err(text) => Err(Fault::from_text(&text)),
    }
}

/// Locks without caring for a poisoned mutex: a test server that panicked has already failed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
