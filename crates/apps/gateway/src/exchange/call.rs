//! One request from the servers' point of view: it receives their progress and their questions.
//!
//! Messages wait here until the transport takes them. A call without messages allocates nothing for
//! this. The form of the messages on the wire is left to the transport.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::future::{BoxFuture, join_all};
use toolgate_host::{Answer, CallerId, Interactor, Question};
use toolgate_transport::chunked_message::OutgoingMessage;
use toolgate_wire::view::LogLevel;
use toolgate_wire::{Frame, to_single_line};

use super::MessageSink;
use super::message_backlog::MessageBacklog;
use crate::modern::{CallRounds, QuestionSendTime};
use crate::polled_state::PolledState;
use crate::session::LegacySessionClient;

/// Why a request ends before its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CancelReason {
    /// The client cancelled it.
    Cancelled,
    /// The client's session has ended.
    SessionClosed,
}

/// Whether the transport can send messages before the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResponseMode {
    /// Messages can precede the answer.
    Streaming,
    /// The client accepts only the answer. Events go where messages outside of calls go, and
    /// servers cannot ask questions.
    AnswerOnly,
}

/// How a call tells its client something and asks it. Each era has its own way.
#[expect(clippy::large_enum_variant, reason = "a box would cost an allocation per call")]
pub(crate) enum QuestionDelivery {
    /// Sends a question as a request, and the client responds while the call continues (legacy).
    Requests(Arc<LegacySessionClient>, ResponseMode),
    /// Ends the exchange with the questions, and the client answers in a retry (modern).
    Rounds(CallRounds),
}

/// A request that is in flight or parked.
pub(crate) struct Call {
    pub(crate) asking: QuestionDelivery,
    /// True for a list. It is ready within moments, so a client that closed its input after the
    /// request still gets it.
    pub(crate) is_list: bool,
    outbox: PolledState<CallOutbox>,
}

/// The messages that wait for the transport.
#[derive(Default)]
struct CallOutbox {
    messages: MessageBacklog,
    cancel_reason: Option<CancelReason>,
}

impl Call {
    pub(crate) fn new(asking: QuestionDelivery, is_list: bool) -> Arc<Self> {
        Arc::new(Self { asking, is_list, outbox: PolledState::default() })
    }

    /// Returns the rounds of a modern call.
    pub(crate) fn rounds(&self) -> Option<&CallRounds> {
        match &self.asking {
            QuestionDelivery::Requests(..) => None,
            QuestionDelivery::Rounds(rounds) => Some(rounds),
        }
    }

    /// Cancels the request.
    pub(crate) fn cancel(&self, reason: CancelReason) {
        self.outbox.update(|outbox| outbox.cancel_reason = Some(reason));
    }

    /// Returns why the request was cancelled, if it was. Otherwise registers the task to wake on a
    /// cancellation, a message or a question.
    pub(super) fn poll_cancelled(&self, context: &Context<'_>) -> Poll<CancelReason> {
        self.outbox.poll(context, |outbox| outbox.cancel_reason)
    }

    /// Returns the next message for the client.
    pub(super) fn poll_message(&self, context: &Context<'_>) -> Poll<Bytes> {
        self.outbox.poll(context, |outbox| outbox.messages.pop())
    }
}

/// Questions to a legacy client are messages of the call.
impl MessageSink for Call {
    fn send(&self, message: OutgoingMessage) {
        match (&self.asking, message) {
            (QuestionDelivery::Requests(client, ResponseMode::AnswerOnly), message) => {
                client.send(message)
            }
            (_, OutgoingMessage::Small(message)) => {
                self.outbox.update(|outbox| outbox.messages.push(message));
            }
            // Only answers are large, and this only sends notifications and questions.
            (_, OutgoingMessage::Large(_)) => {}
        }
    }
}

impl Interactor for Call {
    fn scope(&self) -> CallerId {
        match &self.asking {
            QuestionDelivery::Requests(client, _) => client.scope(),
            QuestionDelivery::Rounds(rounds) => rounds.client.caller.id,
        }
    }

    fn tell(&self, event: Frame) {
        match &self.asking {
            QuestionDelivery::Requests(client, _) if client.wants_event(&event) => {
                self.send(to_single_line(event.bytes()).into());
            }
            QuestionDelivery::Requests(..) => {}
            QuestionDelivery::Rounds(rounds) => {
                if let Some(message) = rounds.adapt_event(&event) {
                    self.outbox.update(|outbox| outbox.messages.push_bounded(message));
                }
            }
        }
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        match &self.asking {
            QuestionDelivery::Requests(client, ResponseMode::Streaming) => {
                client.ask_client(question, Some(self))
            }
            QuestionDelivery::Requests(client, ResponseMode::AnswerOnly) => {
                client.ask_client(question, None)
            }
            QuestionDelivery::Rounds(rounds) => {
                let answer = rounds.ask(question, QuestionSendTime::Soon);
                self.outbox.update(|_| {});
                Box::pin(answer)
            }
        }
    }

    fn ask_all(&self, questions: Vec<Question>) -> BoxFuture<'_, Vec<Answer>> {
        let QuestionDelivery::Rounds(rounds) = &self.asking else {
            return Box::pin(join_all(questions.into_iter().map(|question| self.ask(question))));
        };
        let ask = |question| rounds.ask(question, QuestionSendTime::Now);
        let answers: Vec<_> = questions.into_iter().map(ask).collect();
        self.outbox.update(|_| {});
        Box::pin(join_all(answers))
    }

    fn capabilities(&self) -> Bytes {
        match &self.asking {
            QuestionDelivery::Requests(client, mode) => {
                client.forwarded_capabilities(*mode == ResponseMode::Streaming)
            }
            QuestionDelivery::Rounds(rounds) => rounds.client.caller.capabilities.clone(),
        }
    }

    fn level(&self) -> Option<LogLevel> {
        match &self.asking {
            QuestionDelivery::Requests(client, _) => client.level(),
            QuestionDelivery::Rounds(rounds) => rounds.state.lock().round.log_level,
        }
    }
}
