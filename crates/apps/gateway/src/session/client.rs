//! The client of a session: its capabilities, its log level, and the open questions and requests.
//!
//! It does not know the servers. Calls and the caller's own servers reach the client through it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use toolgate_host::{Answer, CallerId, Interactor, Question, QuestionKind, translate_question};
use toolgate_transport::chunked_message::OutgoingMessage;
use toolgate_wire::view::{LogLevel, LogMessageParams};
use toolgate_wire::{Frame, Revision, method, to_single_line};

use super::questions::LegacyQuestions;
use crate::exchange::{Call, ClientCapabilities, InFlightRequests, MessageSink};

/// The log level for a client that has not set one: informative, without details for developers.
const DEFAULT_LEVEL: LogLevel = LogLevel::Info;

/// The client of one session.
pub(crate) struct LegacySessionClient {
    scope: CallerId,
    revision: Revision,
    capabilities: ClientCapabilities,
    /// The capabilities as modern servers get them, raw.
    forwarded: Bytes,
    /// The same for calls in which the client cannot be asked.
    forwarded_without_questions: Bytes,
    /// The configured answer to `roots/list`. It replaces the client's own.
    roots: Option<Bytes>,
    level: AtomicU8,
    sink: Arc<dyn MessageSink>,
    pub(crate) questions: LegacyQuestions,
    pub(crate) pending_requests: InFlightRequests<Arc<Call>>,
}

impl LegacySessionClient {
    pub(crate) fn new(
        scope: CallerId,
        revision: Revision,
        capabilities: &[u8],
        roots: Option<Bytes>,
        sink: Arc<dyn MessageSink>,
    ) -> Self {
        let parsed = ClientCapabilities::parse(capabilities);
        let forwarded = |answered: ClientCapabilities| match &roots {
            Some(_) => answered.with(QuestionKind::Roots).to_modern_json(capabilities),
            None => answered.to_modern_json(capabilities),
        };
        Self {
            scope,
            revision,
            capabilities: parsed,
            forwarded: forwarded(parsed),
            forwarded_without_questions: forwarded(ClientCapabilities::default()),
            roots,
            level: AtomicU8::new(DEFAULT_LEVEL as u8),
            sink,
            questions: LegacyQuestions::default(),
            pending_requests: InFlightRequests::default(),
        }
    }

    /// Sends a message that belongs to no call.
    pub(crate) fn send(&self, message: OutgoingMessage) {
        self.sink.send(message);
    }

    pub(crate) fn set_level(&self, level: LogLevel) {
        self.level.store(level as u8, Ordering::Relaxed);
    }

    /// Returns the capabilities for a modern server, depending on whether the client can be asked.
    pub(crate) fn forwarded_capabilities(&self, askable: bool) -> Bytes {
        match askable {
            true => self.forwarded.clone(),
            false => self.forwarded_without_questions.clone(),
        }
    }

    /// Returns true if the client wants log messages of this level.
    pub(crate) fn wants_level(&self, level: LogLevel) -> bool {
        level as u8 >= self.level.load(Ordering::Relaxed)
    }

    /// Returns true if the client wants this notification. It wants all except log messages below
    /// its level.
    pub(crate) fn wants_event(&self, event: &Frame) -> bool {
        if !event.is(method::MESSAGE) {
            return true;
        }
        let level =
            LogMessageParams::of(event.params().unwrap_or_default()).and_then(|log| log.level);
        level.is_none_or(|level| self.wants_level(level))
    }

    /// Asks the client a question, if there is a sink and the client declared the capability.
    pub(crate) fn ask_client<'a>(
        &'a self,
        question: Question,
        sink: Option<&'a dyn MessageSink>,
    ) -> BoxFuture<'a, Answer> {
        match (&self.roots, sink) {
            (Some(roots), _) if question.kind == QuestionKind::Roots => {
                ready_answer(Answer::Result(roots.clone()))
            }
            (_, Some(sink)) if self.capabilities.can_answer(question.kind) => {
                let frame = translate_question(question.frame, self.revision);
                Box::pin(self.questions.ask(Question { frame, ..question }, sink))
            }
            _ => ready_answer(Answer::Unsupported),
        }
    }
}

fn ready_answer<'a>(answer: Answer) -> BoxFuture<'a, Answer> {
    Box::pin(std::future::ready(answer))
}

/// The interactor for everything outside of calls.
impl Interactor for LegacySessionClient {
    fn scope(&self) -> CallerId {
        self.scope
    }

    fn tell(&self, event: Frame) {
        if self.wants_event(&event) {
            self.send(to_single_line(event.bytes()).into());
        }
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        self.ask_client(question, Some(self.sink.as_ref()))
    }

    fn capabilities(&self) -> Bytes {
        self.forwarded_capabilities(true)
    }

    fn level(&self) -> Option<LogLevel> {
        let least = self.level.load(Ordering::Relaxed);
        LogLevel::ALL.into_iter().find(|level| *level as u8 == least)
    }
}
