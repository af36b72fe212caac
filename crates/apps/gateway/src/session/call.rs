//! One legacy request in flight, from the servers' point of view: it receives progress and
//! questions.
//!
//! Messages wait here until the transport takes them. A call without messages allocates nothing for
//! this. The form of the messages on the wire is left to the transport.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use toolgate_transport::chunked_message::ChunkedMessage;
use toolgate_wire::view::LogLevel;
use toolgate_wire::{Frame, OwnedRequestId, to_single_line};

use super::{MessageSink, SessionClient};
use crate::gate_service::{Answer, CallerScope, Interactor, Question};

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

/// A request in flight.
pub(crate) struct LegacyCall {
    client: Arc<SessionClient>,
    id: OwnedRequestId,
    response_mode: ResponseMode,
    state: Mutex<LegacyCallState>,
}

/// The messages that wait for the transport.
#[derive(Default)]
struct LegacyCallState {
    messages: VecDeque<Bytes>,
    cancel_reason: Option<CancelReason>,
    waker: Option<Waker>,
}

impl LegacyCall {
    pub(crate) fn new(
        client: Arc<SessionClient>,
        id: OwnedRequestId,
        response_mode: ResponseMode,
    ) -> Self {
        Self { client, id, response_mode, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, LegacyCallState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the client's id of the request.
    pub(crate) fn id(&self) -> &OwnedRequestId {
        &self.id
    }

    /// Cancels the request.
    pub(crate) fn cancel(&self, reason: CancelReason) {
        self.update(|state| state.cancel_reason = Some(reason));
    }

    /// Returns why the request was cancelled, if it was. Otherwise registers the task to wake on a
    /// cancellation or a message.
    pub(crate) fn poll_cancelled(&self, context: &Context<'_>) -> Option<CancelReason> {
        let mut state = self.state();
        match &mut state.waker {
            Some(waker) => waker.clone_from(context.waker()),
            empty => *empty = Some(context.waker().clone()),
        }
        state.cancel_reason
    }

    /// Returns the next message for the client.
    pub(crate) fn next_message(&self) -> Option<Bytes> {
        self.state().messages.pop_front()
    }

    fn update(&self, change: impl FnOnce(&mut LegacyCallState)) {
        let waker = {
            let mut state = self.state();
            change(&mut state);
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl MessageSink for LegacyCall {
    fn send(&self, message: Bytes) {
        match self.response_mode {
            ResponseMode::Streaming => self.update(|state| state.messages.push_back(message)),
            ResponseMode::AnswerOnly => self.client.send(message),
        }
    }

    fn send_large(&self, message: ChunkedMessage) {
        // Only answers are large, and this only sends notifications and questions.
        if let Ok(message) = message.to_vec() {
            self.send(message.into());
        }
    }
}

impl Interactor for LegacyCall {
    fn scope(&self) -> CallerScope {
        self.client.scope()
    }

    fn tell(&self, event: Frame) {
        if self.client.wants_event(&event) {
            self.send(to_single_line(event.bytes()));
        }
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        let sink =
            (self.response_mode == ResponseMode::Streaming).then_some(self as &dyn MessageSink);
        self.client.ask_client(question, sink)
    }

    fn capabilities(&self) -> Bytes {
        self.client.forwarded_capabilities(self.response_mode == ResponseMode::Streaming)
    }

    fn level(&self) -> Option<LogLevel> {
        Some(self.client.level())
    }
}
