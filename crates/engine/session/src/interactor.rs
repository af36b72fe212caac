//! The [`Interactor`] receives the notifications of a call and answers the server's questions.
//!
//! Each call brings its own interactor. How it reaches a person or a client (a stream, a dialog, a
//! prompt) is up to the implementation. Outside any call, [`RootsInteractor`] answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use futures_util::future::{BoxFuture, join_all};
use parking_lot::RwLock;
use toolgate_model::ServerName;
use toolgate_wire::view::LogLevel;
use toolgate_wire::{Frame, JsonEdit, Span, code, method, scan, string};

/// The client capability that permits sampling requests.
pub(crate) const SAMPLING: &str = "sampling";

/// Identifies a caller while this process lives. Calls of one caller may answer each other's
/// questions. 0 stands for no caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallerId(pub u64);

impl CallerId {
    /// Returns an unused id.
    pub fn fresh() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The kind of a server's question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QuestionKind {
    /// Asks which folders may be used (`roots/list`).
    Roots,
    /// Asks the client's model for a completion (`sampling/createMessage`).
    Sampling,
    /// Asks the user to fill in a form (`elicitation/create`).
    Form,
    /// Asks the user to visit a URL (`elicitation/create` with mode `url`).
    Url,
}

/// One question of one server.
#[derive(Debug, Clone)]
pub struct Question {
    /// The server that asks.
    pub server: ServerName,
    /// The kind of the question.
    pub kind: QuestionKind,
    /// The server's key for the question, if it asks through a result instead of a request.
    pub key: Option<String>,
    /// The request as the server sent it. Its id is meaningless if there is a key.
    pub frame: Frame,
}

impl Question {
    /// Returns true if this is a URL elicitation without an id. Only 2025-11-25 has these ids, but
    /// clients of every revision may require one.
    pub fn lacks_elicitation_id(&self) -> bool {
        let params = self.frame.params().unwrap_or_default();
        self.kind == QuestionKind::Url && scan::member(params, "elicitationId").is_none()
    }
}

/// The answer to a server's question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The `result` object, as raw JSON.
    Result(Bytes),
    /// A JSON-RPC error.
    Failure {
        /// The JSON-RPC error code.
        code: i32,
        /// The error message.
        message: String,
        /// Additional data, as raw JSON.
        data: Option<Bytes>,
    },
    /// The interactor cannot answer this kind of question.
    Unsupported,
}

/// Receives the notifications of a call and answers the questions the server asks during it.
pub trait Interactor: Send + Sync {
    /// Returns the scope of the caller.
    fn scope(&self) -> CallerId;

    /// Receives a notification that belongs to the call: progress with the caller's own token, a
    /// log message, or an unknown notification.
    fn tell(&self, event: Frame);

    /// Answers a question. Dropping the future withdraws the question.
    fn ask(&self, question: Question) -> BoxFuture<'_, Answer>;

    /// Answers questions that were asked together. The answers have the same order.
    fn ask_all(&self, questions: Vec<Question>) -> BoxFuture<'_, Vec<Answer>> {
        Box::pin(join_all(questions.into_iter().map(|question| self.ask(question))))
    }

    /// Returns the `clientCapabilities` sent to a modern server with the call, as raw JSON.
    fn capabilities(&self) -> Bytes {
        Bytes::from_static(b"{}")
    }

    /// Returns the minimum level of log messages to receive, or `None` to receive none.
    fn level(&self) -> Option<LogLevel> {
        None
    }
}

impl dyn Interactor + '_ {
    /// Returns true if its capabilities include any kind of question.
    pub(crate) fn can_be_asked(&self) -> bool {
        let capabilities = self.capabilities();
        let questions = ["elicitation", "sampling", "roots"];
        questions.into_iter().any(|kind| scan::member(&capabilities, kind).is_some())
    }
}

/// Removes `sampling` from client capabilities unless the server may use it. Always removes its
/// `context` option, which would expose the context of other servers.
pub fn restrict_sampling(capabilities: Bytes, sampling: bool) -> Bytes {
    let Some(at) = scan::member(&capabilities, SAMPLING) else { return capabilities };
    let context = scan::member(at.slice(&capabilities), "context").is_some();
    let edit = JsonEdit::new(&capabilities);
    let edit = match sampling {
        false => edit.delete_member(Span::new(0, capabilities.len()), SAMPLING),
        true if context => edit.delete_member(at, "context"),
        true => return capabilities,
    };
    edit.finish().unwrap_or_else(|_| Bytes::from_static(b"{}"))
}

impl QuestionKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Roots, Self::Sampling, Self::Form, Self::Url];

    /// Returns the kind of a request, or `None` if its method is not a question.
    pub fn of(frame: &Frame) -> Option<Self> {
        match frame.method()?.as_ref() {
            method::ROOTS_LIST => Some(Self::Roots),
            method::SAMPLING_CREATE_MESSAGE => Some(Self::Sampling),
            method::ELICITATION_CREATE => Some(Self::elicitation(frame)),
            _ => None,
        }
    }

    /// Returns true if a client declares that it answers this kind of question. An elicitation
    /// capability without modes means forms.
    pub fn is_declared_in(self, capabilities: &[u8]) -> bool {
        let has = |path: &[&str]| {
            let at = scan::pointer(capabilities, path);
            at.is_some_and(|at| at.slice(capabilities).starts_with(b"{"))
        };
        match self {
            Self::Roots => has(&["roots"]),
            Self::Sampling => has(&[SAMPLING]),
            Self::Url => has(&["elicitation", "url"]),
            Self::Form => {
                has(&["elicitation", "form"])
                    || has(&["elicitation"]) && !has(&["elicitation", "url"])
            }
        }
    }

    fn elicitation(frame: &Frame) -> Self {
        match scan::member_text(frame.params().unwrap_or_default(), "mode").as_deref() {
            Some("url") => Self::Url,
            _ => Self::Form,
        }
    }
}

impl Answer {
    /// Returns the answer to a question that no client can answer.
    pub fn declined(kind: QuestionKind) -> Self {
        match kind {
            QuestionKind::Form | QuestionKind::Url => {
                Self::Result(Bytes::from_static(br#"{"action":"decline"}"#))
            }
            QuestionKind::Roots => Self::Result(Bytes::from_static(NO_ROOTS)),
            QuestionKind::Sampling => Self::Failure {
                code: code::METHOD_NOT_FOUND,
                message: "the caller does not support sampling".into(),
                data: None,
            },
        }
    }
}

/// An interactor that declares other capabilities and forwards everything else.
pub struct CapabilityOverrideInteractor {
    /// The interactor that receives and answers.
    pub inner: Arc<dyn Interactor>,
    /// The `clientCapabilities`, as raw JSON.
    pub capabilities: Bytes,
}

impl Interactor for CapabilityOverrideInteractor {
    fn scope(&self) -> CallerId {
        self.inner.scope()
    }

    fn tell(&self, event: Frame) {
        self.inner.tell(event);
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        self.inner.ask(question)
    }

    fn ask_all(&self, questions: Vec<Question>) -> BoxFuture<'_, Vec<Answer>> {
        self.inner.ask_all(questions)
    }

    fn capabilities(&self) -> Bytes {
        self.capabilities.clone()
    }

    fn level(&self) -> Option<LogLevel> {
        self.inner.level()
    }
}

/// Answers outside any call: returns the configured roots and declines every other question.
#[derive(Debug)]
pub struct RootsInteractor(RwLock<Bytes>);

/// The answer of a client without roots.
const NO_ROOTS: &[u8] = br#"{"roots":[]}"#;

impl RootsInteractor {
    /// Creates an interactor that answers `roots/list` with these URIs.
    pub fn new(roots: &[String]) -> Self {
        Self(RwLock::new(roots_result(roots)))
    }

    /// Replaces the roots. Returns true if they changed.
    pub fn set(&self, roots: &[String]) -> bool {
        let roots = roots_result(roots);
        let before = std::mem::replace(&mut *self.0.write(), roots.clone());
        before != roots
    }

    /// Returns the `roots/list` result, or `None` if there are no roots.
    pub fn roots(&self) -> Option<Bytes> {
        Some(self.0.read().clone()).filter(|roots| *roots != NO_ROOTS)
    }
}

fn roots_result(roots: &[String]) -> Bytes {
    let roots: Vec<_> =
        roots.iter().map(|uri| format!("{{\"uri\":{}}}", string::encode(uri))).collect();
    format!("{{\"roots\":[{}]}}", roots.join(",")).into()
}

impl Interactor for RootsInteractor {
    fn scope(&self) -> CallerId {
        CallerId(0)
    }

    fn tell(&self, _event: Frame) {}

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        let answer = match question.kind {
            QuestionKind::Roots => Answer::Result(self.0.read().clone()),
            _ => Answer::Unsupported,
        };
        Box::pin(std::future::ready(answer))
    }
}
