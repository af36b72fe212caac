//! The client of a local server: sampling requests to it and progress notifications.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;
use toolgate_model::{CodedError, ErrorCode};
use toolgate_transport::line::LineSender;
use toolgate_wire::view::RpcError;
use toolgate_wire::{Frame, build, method};

/// Why a request to a client failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestToClientError {
    /// The client did not declare sampling.
    #[error("the client does not support sampling")]
    Unsupported,
    /// The client answered with an error.
    #[error("the client refused the request: {message} ({code})")]
    Refused {
        /// The JSON-RPC error code.
        code: i64,
        /// The client's error message.
        message: String,
    },
    /// The client did not answer in time.
    #[error("the client did not answer in time")]
    TimedOut,
    /// The client disconnected.
    #[error("the client disconnected")]
    Disconnected,
}

impl CodedError for RequestToClientError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Unsupported => ErrorCode::CallClientCapability,
            Self::Refused { .. } => ErrorCode::CallServerError,
            Self::TimedOut => ErrorCode::SessionTimeout,
            Self::Disconnected => ErrorCode::SessionEnded,
        }
    }
}

/// The client that called a tool, usable while the call runs. Cheap to clone.
#[derive(Clone)]
pub struct ClientHandle {
    link: Arc<InProcessConnection>,
    /// The token for progress notifications, if the caller wants them.
    progress_token: Option<Value>,
}

impl ClientHandle {
    /// Creates a handle for one request with these params.
    pub(super) fn of(link: &Arc<InProcessConnection>, params: &Value) -> Self {
        let token = params.pointer("/_meta/progressToken").cloned();
        Self { link: link.clone(), progress_token: token }
    }

    /// Returns the declared client capabilities. Behind a gate with several clients, these are the
    /// capabilities of all clients together; whether this client has one shows only when it is
    /// used.
    pub fn capabilities(&self) -> &Value {
        static NONE: Value = Value::Null;
        self.link.capabilities.get().unwrap_or(&NONE)
    }

    /// Returns true if the client declared sampling.
    pub fn offers_sampling(&self) -> bool {
        self.capabilities().get("sampling").is_some()
    }

    /// Sends a `sampling/createMessage` request with these params and returns its result. Dropping
    /// the future cancels the request.
    pub async fn sample(
        &self,
        params: &Value,
        limit: Duration,
    ) -> Result<Value, RequestToClientError> {
        if !self.offers_sampling() {
            return Err(RequestToClientError::Unsupported);
        }
        let mut asked = self.link.ask(method::SAMPLING_CREATE_MESSAGE, params)?;
        match timeout(limit, &mut asked.answer).await {
            Ok(answer) => answer.unwrap_or(Err(RequestToClientError::Disconnected)),
            Err(_) => Err(RequestToClientError::TimedOut),
        }
    }

    /// Sends a progress notification, if the caller wants them. `done` must increase with each
    /// call.
    pub fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        let Some(token) = &self.progress_token else { return };
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

impl fmt::Debug for ClientHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("capabilities", self.capabilities()).finish_non_exhaustive()
    }
}

/// One connection to a client, with the requests sent on it.
pub(super) struct InProcessConnection {
    out: LineSender,
    capabilities: OnceLock<Value>,
    pending: Mutex<PendingQuestions>,
}

/// The client's answer to a request.
type ClientAnswer = Result<Value, RequestToClientError>;

/// The requests to a client that wait for an answer.
#[derive(Default)]
struct PendingQuestions {
    last: u64,
    open: HashMap<u64, oneshot::Sender<ClientAnswer>>,
    /// True once the client sends nothing more.
    closed: bool,
}

impl InProcessConnection {
    pub(super) fn new(out: LineSender) -> Arc<Self> {
        Arc::new(Self { out, capabilities: OnceLock::new(), pending: Mutex::default() })
    }

    /// Sends a message. Does nothing if the client disconnected.
    pub(super) fn send(&self, message: bytes::Bytes) {
        let _ = self.out.send(message);
    }

    /// Sets the client capabilities, once.
    pub(super) fn set_capabilities(&self, capabilities: &Value) {
        let _ = self.capabilities.set(capabilities.clone());
    }

    fn ask(
        self: &Arc<Self>,
        method: &str,
        params: &Value,
    ) -> Result<PendingQuestionGuard, RequestToClientError> {
        let (sender, answer) = oneshot::channel();
        let mut asked = self.pending.lock();
        if asked.closed {
            return Err(RequestToClientError::Disconnected);
        }
        asked.last += 1;
        let id = asked.last;
        asked.open.insert(id, sender);
        drop(asked);
        let params = params.to_string();
        self.send(build::request(&id.to_string(), method, Some(params.as_bytes())));
        Ok(PendingQuestionGuard { link: self.clone(), id, answer })
    }

    /// Delivers the answer to a pending request. Ignores answers to unknown requests.
    pub(super) fn deliver_answer(&self, frame: &Frame) {
        let id = frame.id().and_then(|id| id.raw().parse::<u64>().ok());
        let Some(sender) = id.and_then(|id| self.pending.lock().open.remove(&id)) else { return };
        let answer = match frame.error() {
            Some(error) => {
                let error = RpcError::of(error);
                let code = error.as_ref().and_then(|error| error.code).unwrap_or_default();
                let message = error.and_then(|error| error.message).unwrap_or_default();
                Err(RequestToClientError::Refused { code, message: message.into_owned() })
            }
            None => {
                Ok(serde_json::from_slice(frame.result().unwrap_or(b"null")).unwrap_or(Value::Null))
            }
        };
        let _ = sender.send(answer);
    }

    /// Marks the connection as closed and fails all pending requests.
    pub(super) fn close(&self) {
        let mut asked = self.pending.lock();
        asked.closed = true;
        asked.open.clear();
    }
}

/// A pending request to the client. Dropping it before the answer cancels the request.
struct PendingQuestionGuard {
    link: Arc<InProcessConnection>,
    id: u64,
    answer: oneshot::Receiver<ClientAnswer>,
}

impl Drop for PendingQuestionGuard {
    fn drop(&mut self) {
        if self.link.pending.lock().open.remove(&self.id).is_some() {
            let params = format!("{{\"requestId\":{}}}", self.id);
            self.link.send(build::notification(method::CANCELLED, Some(params.as_bytes())));
        }
    }
}
