//! The client a local server serves: what it can be asked, and what it is told during a call.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;
use toolgate_transport::line::LineSender;
use toolgate_wire::view::RpcError;
use toolgate_wire::{Frame, build, method};

/// Why a client gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// It did not say that it can be asked.
    #[error("ask the client's model: it offers none")]
    Unsupported,
    /// It said no.
    #[error("ask the client: {message} ({code})")]
    Refused {
        /// The JSON-RPC code.
        code: i64,
        /// Why, in its words.
        message: String,
    },
    /// It took too long.
    #[error("ask the client: it gave no answer in time")]
    Late,
    /// It is gone.
    #[error("ask the client: it is gone")]
    Gone,
}

/// Whoever called a tool, for as long as the call runs. Cheap to clone.
#[derive(Clone)]
pub struct Client {
    link: Arc<Link>,
    /// What its progress is to be told under.
    token: Option<Value>,
}

impl Client {
    /// The client behind a link, as it asks for one thing.
    pub(super) fn of(link: &Arc<Link>, params: &Value) -> Self {
        let token = params.pointer("/_meta/progressToken").cloned();
        Self { link: link.clone(), token }
    }

    /// What it declared that it can do. Behind a gate that many clients share, that is what any of
    /// them may be able to: whether this one is can only be asked.
    pub fn capabilities(&self) -> &Value {
        static NONE: Value = Value::Null;
        self.link.capabilities.get().unwrap_or(&NONE)
    }

    /// Whether its model may be asked.
    pub fn offers_sampling(&self) -> bool {
        self.capabilities().get("sampling").is_some()
    }

    /// Lets its model complete something: `params` and the result are those of
    /// `sampling/createMessage`. Whoever stops waiting takes the question back.
    pub async fn sample(&self, params: &Value, limit: Duration) -> Result<Value, AskError> {
        if !self.offers_sampling() {
            return Err(AskError::Unsupported);
        }
        let mut asked = self.link.ask(method::SAMPLING_CREATE_MESSAGE, params)?;
        match timeout(limit, &mut asked.answer).await {
            Ok(answer) => answer.unwrap_or(Err(AskError::Gone)),
            Err(_) => Err(AskError::Late),
        }
    }

    /// Tells how far the call has come, if the caller wants to know. `done` must grow.
    pub fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        let Some(token) = &self.token else { return };
        let mut params = json!({ "progressToken": token, "progress": done });
        if let Some(total) = total {
            params["total"] = json!(total);
        }
        if !message.is_empty() {
            params["message"] = json!(message);
        }
        self.link.send(build::notification(method::PROGRESS, Some(params.to_string().as_bytes())));
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("capabilities", self.capabilities()).finish_non_exhaustive()
    }
}

/// One connection to a client, and what it was asked on it.
pub(super) struct Link {
    out: LineSender,
    capabilities: OnceLock<Value>,
    asked: Mutex<Asked>,
}

type Answer = Result<Value, AskError>;

#[derive(Default)]
struct Asked {
    last: u64,
    open: HashMap<u64, oneshot::Sender<Answer>>,
    /// Nothing comes from there any more.
    over: bool,
}

impl Link {
    pub(super) fn new(out: LineSender) -> Arc<Self> {
        Arc::new(Self { out, capabilities: OnceLock::new(), asked: Mutex::default() })
    }

    /// Sends a message; a client that is gone wants none.
    pub(super) fn send(&self, message: bytes::Bytes) {
        let _ = self.out.send(message);
    }

    /// Notes what the client says of itself, once.
    pub(super) fn greeted(&self, capabilities: &Value) {
        let _ = self.capabilities.set(capabilities.clone());
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(self: &Arc<Self>, method: &str, params: &Value) -> Result<Question, AskError> {
        let (sender, answer) = oneshot::channel();
        let mut asked = self.asked();
        if asked.over {
            return Err(AskError::Gone);
        }
        asked.last += 1;
        let id = asked.last;
        asked.open.insert(id, sender);
        drop(asked);
        let params = params.to_string();
        self.send(build::request(&id.to_string(), method, Some(params.as_bytes())));
        Ok(Question { link: self.clone(), id, answer })
    }

    /// Takes the answer to a question; what nobody asked is nobody's.
    pub(super) fn answered(&self, frame: &Frame) {
        let id = frame.id().and_then(|id| id.raw().parse::<u64>().ok());
        let Some(sender) = id.and_then(|id| self.asked().open.remove(&id)) else { return };
        let answer = match frame.error() {
            Some(error) => {
                let error = RpcError::of(error);
                let code = error.as_ref().and_then(|error| error.code).unwrap_or_default();
                let message = error.and_then(|error| error.message).unwrap_or_default();
                Err(AskError::Refused { code, message: message.into_owned() })
            }
            None => {
                Ok(serde_json::from_slice(frame.result().unwrap_or(b"null")).unwrap_or(Value::Null))
            }
        };
        let _ = sender.send(answer);
    }

    /// The client says nothing more: whoever waits for an answer waits in vain.
    pub(super) fn over(&self) {
        let mut asked = self.asked();
        asked.over = true;
        asked.open.clear();
    }
}

/// A question that was put, and is taken back if nobody waits for its answer any more.
struct Question {
    link: Arc<Link>,
    id: u64,
    answer: oneshot::Receiver<Answer>,
}

impl Drop for Question {
    fn drop(&mut self) {
        if self.link.asked().open.remove(&self.id).is_some() {
            let params = format!("{{\"requestId\":{}}}", self.id);
            self.link.send(build::notification(method::CANCELLED, Some(params.as_bytes())));
        }
    }
}
