//! The question port: who is told what happens during a call, and who answers what servers ask.
//!
//! Whoever makes a call brings an [`Interactor`]. How it reaches a person or a client (a stream, a
//! dialog, a prompt) is its own affair; a session only tells and asks. Outside any call the
//! [`Ambient`] one answers.

use bytes::Bytes;
use futures_util::future::{BoxFuture, join_all};
use toolgate_model::ServerName;
use toolgate_wire::view::LogLevel;
use toolgate_wire::{Frame, Span, Splice, code, method, scan, string};

/// What a client calls it that its model can be asked.
pub(crate) const SAMPLING: &str = "sampling";

/// Who an interactor speaks for. Two calls of one scope may answer each other's questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scope(pub u64);

/// What kind of question a server asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AskKind {
    /// Which folders may be used.
    Roots,
    /// Let your model complete this.
    Sampling,
    /// Let your user fill in this form.
    Form,
    /// Let your user visit this address.
    Url,
}

/// One question of one server.
#[derive(Debug, Clone)]
pub struct Question {
    /// Who asks.
    pub server: ServerName,
    /// What for.
    pub kind: AskKind,
    /// The server's own key for it, where it asks through a result and not by a request.
    pub key: Option<String>,
    /// The request as the server sent it; its id means nothing where there is a key.
    pub frame: Frame,
}

impl Question {
    /// Whether it is an address to visit without an id. Only 2025-11-25 has such ids, but clients
    /// of every revision may demand one.
    pub fn lacks_elicitation_id(&self) -> bool {
        let params = self.frame.params().unwrap_or_default();
        self.kind == AskKind::Url && scan::member(params, "elicitationId").is_none()
    }
}

/// What comes back to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The `result` object, raw.
    Result(Bytes),
    /// An error object: code, message and perhaps data.
    Failure {
        /// The JSON-RPC code.
        code: i32,
        /// Why.
        message: String,
        /// More, raw.
        data: Option<Bytes>,
    },
    /// Nobody here can answer this kind of question.
    Unsupported,
}

/// Whoever stands behind a call.
pub trait Interactor: Send + Sync {
    /// Who it speaks for.
    fn scope(&self) -> Scope;

    /// Takes a notification that belongs to the call: progress, with the caller's own token, a log
    /// line, or one the gateway does not know.
    fn tell(&self, event: Frame);

    /// Answers a question. Dropping the future takes the question back.
    fn ask(&self, question: Question) -> BoxFuture<'_, Answer>;

    /// Answers questions that were asked together, in their order.
    fn ask_all(&self, questions: Vec<Question>) -> BoxFuture<'_, Vec<Answer>> {
        Box::pin(join_all(questions.into_iter().map(|question| self.ask(question))))
    }

    /// What it can be asked and which extensions stand behind it: the `clientCapabilities` a modern
    /// server is told with the call, raw.
    fn capabilities(&self) -> Bytes {
        Bytes::from_static(b"{}")
    }

    /// The least level of log lines it wants to be told; `None` for none at all.
    fn level(&self) -> Option<LogLevel> {
        None
    }
}

impl dyn Interactor + '_ {
    /// Whether it can be asked anything at all, as it says.
    pub(crate) fn can_be_asked(&self) -> bool {
        let capabilities = self.capabilities();
        let questions = ["elicitation", "sampling", "roots"];
        questions.into_iter().any(|kind| scan::member(&capabilities, kind).is_some())
    }
}

/// What a server is told that can be asked of those behind it: no model unless it may, and a model
/// without the context of other servers.
pub fn declared(capabilities: Bytes, sampling: bool) -> Bytes {
    let Some(at) = scan::member(&capabilities, SAMPLING) else { return capabilities };
    let context = scan::member(at.of(&capabilities), "context").is_some();
    let edit = Splice::new(&capabilities);
    let edit = match sampling {
        false => edit.delete_member(Span::new(0, capabilities.len()), SAMPLING),
        true if context => edit.delete_member(at, "context"),
        true => return capabilities,
    };
    edit.finish().unwrap_or_else(|_| Bytes::from_static(b"{}"))
}

impl AskKind {
    /// Reads the kind off a request, or `None` for a method that is no question.
    pub fn of(frame: &Frame) -> Option<Self> {
        match frame.method()?.as_ref() {
            method::ROOTS_LIST => Some(Self::Roots),
            method::SAMPLING_CREATE_MESSAGE => Some(Self::Sampling),
            method::ELICITATION_CREATE => Some(Self::elicitation(frame)),
            _ => None,
        }
    }

    fn elicitation(frame: &Frame) -> Self {
        match scan::text(frame.params().unwrap_or_default(), "mode").as_deref() {
            Some("url") => Self::Url,
            _ => Self::Form,
        }
    }
}

impl Answer {
    /// What a server is told when nobody answers: a user who declines, a model that is not there.
    pub fn declined(kind: AskKind) -> Self {
        match kind {
            AskKind::Form | AskKind::Url => {
                Self::Result(Bytes::from_static(br#"{"action":"decline"}"#))
            }
            AskKind::Roots => Self::Result(Bytes::from_static(br#"{"roots":[]}"#)),
            AskKind::Sampling => Self::Failure {
                code: code::METHOD_NOT_FOUND,
                message: "the caller offers no sampling".into(),
                data: None,
            },
        }
    }
}

/// Answers outside any call: configured roots, and no to everything else.
#[derive(Debug)]
pub struct Ambient {
    roots: Bytes,
}

impl Ambient {
    /// Answers `roots/list` with these URIs.
    pub fn new(roots: &[String]) -> Self {
        let roots: Vec<_> =
            roots.iter().map(|uri| format!("{{\"uri\":{}}}", string::encode(uri))).collect();
        Self { roots: Bytes::from(format!("{{\"roots\":[{}]}}", roots.join(","))) }
    }

    /// The `roots/list` result.
    pub fn roots(&self) -> Bytes {
        self.roots.clone()
    }
}

impl Interactor for Ambient {
    fn scope(&self) -> Scope {
        Scope(0)
    }

    fn tell(&self, _event: Frame) {}

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        let answer = match question.kind {
            AskKind::Roots => Answer::Result(self.roots()),
            _ => Answer::Unsupported,
        };
        Box::pin(std::future::ready(answer))
    }
}
