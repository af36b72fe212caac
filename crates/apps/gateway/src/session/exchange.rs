//! The exchange of one legacy request: messages for the client, then one response.
//!
//! The transport polls an exchange in its own task; an exchange has no task and no channel.
//! Dropping it cancels the request at the server. If a transport loses its client and the call
//! should continue, it polls the exchange elsewhere.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use toolgate_wire::{Frame, MessageKind, code};

use super::call::{CancelReason, LegacyCall};
use super::{LegacySession, MessageSink, RpcResponse};
use crate::gate_service::GateError;

/// The next step of an exchange.
pub(crate) enum ExchangeStep {
    /// A message for the client: progress, a log message or a question.
    Message(Bytes),
    /// The response.
    Response(RpcResponse),
}

/// The exchange of one message.
pub(crate) enum LegacyExchange {
    /// The response is ready.
    Answered(RpcResponse),
    /// A request in flight.
    Running(LegacyRunningCall),
    /// Several requests in one message (2025-03-26).
    Batch(LegacyBatch),
    /// The response was taken.
    Done,
}

/// One request in flight.
pub(crate) struct LegacyRunningCall {
    session: Arc<LegacySession>,
    call: Arc<LegacyCall>,
    work: LegacyCallWork,
    response: Option<RpcResponse>,
}

/// What a request waits for.
pub(crate) enum LegacyCallWork {
    /// An answer from a server, through the gate.
    Call(BoxFuture<'static, Result<Frame, GateError>>),
    /// A server's answer to a change of subscription, and the change to record if it succeeds.
    Subscription(BoxFuture<'static, Result<Frame, GateError>>, SubscriptionChange),
    /// A prepared list.
    List(BoxFuture<'static, Bytes>),
}

/// A change of the client's subscriptions.
pub(crate) enum SubscriptionChange {
    /// Adds this URI.
    Subscribe(String),
    /// Removes this URI.
    Unsubscribe(String),
}

impl LegacyExchange {
    /// Returns the next step. After the response there is none.
    pub(crate) fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<ExchangeStep> {
        let step = match self {
            Self::Running(running) => running.poll_step(context),
            Self::Batch(batch) => batch.poll_step(context),
            Self::Answered(_) => match std::mem::replace(self, Self::Done) {
                Self::Answered(reply) => return Poll::Ready(ExchangeStep::Response(reply)),
                _ => Poll::Pending,
            },
            Self::Done => Poll::Pending,
        };
        if matches!(step, Poll::Ready(ExchangeStep::Response(_))) {
            *self = Self::Done;
        }
        step
    }
}

/// Polls an exchange of either era until its response, and sends all messages before it to `sink`.
pub(crate) async fn run_exchange(
    mut poll_step: impl FnMut(&mut Context<'_>) -> Poll<ExchangeStep>,
    sink: &dyn MessageSink,
) -> RpcResponse {
    loop {
        match poll_fn(&mut poll_step).await {
            ExchangeStep::Message(message) => sink.send(message),
            ExchangeStep::Response(reply) => return reply,
        }
    }
}

impl LegacyRunningCall {
    pub(crate) fn new(
        session: Arc<LegacySession>,
        call: Arc<LegacyCall>,
        work: LegacyCallWork,
    ) -> Self {
        Self { session, call, work, response: None }
    }

    fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<ExchangeStep> {
        // A list is ready within moments. A client that closed its input after the request still
        // gets it.
        let is_list = matches!(self.work, LegacyCallWork::List(_));
        let reason = self
            .call
            .poll_cancelled(context)
            .filter(|reason| !is_list || *reason == CancelReason::Cancelled);
        if self.response.is_none() {
            self.response = match reason {
                Some(reason) => Some(self.cancel(reason)),
                None => self.poll_work(context),
            };
        }
        // Messages from before the answer are sent before it.
        if let Some(message) = self.call.next_message() {
            return Poll::Ready(ExchangeStep::Message(message));
        }
        match self.response.take() {
            Some(reply) => Poll::Ready(ExchangeStep::Response(reply)),
            None => Poll::Pending,
        }
    }

    fn poll_work(&mut self, context: &mut Context<'_>) -> Option<RpcResponse> {
        let id = self.call.id();
        let answer = match &mut self.work {
            LegacyCallWork::List(list) => {
                return into_option(list.as_mut().poll(context))
                    .map(|list| RpcResponse::shared_result(id, list));
            }
            LegacyCallWork::Call(pass) | LegacyCallWork::Subscription(pass, _) => {
                into_option(pass.as_mut().poll(context))?
            }
        };
        if let (LegacyCallWork::Subscription(_, change), Ok(frame)) = (&self.work, &answer)
            && frame.kind() == MessageKind::Response
        {
            self.session.apply_subscription(change);
        }
        Some(match answer {
            Ok(frame) => RpcResponse::from_answer(&frame, id),
            Err(refusal) => RpcResponse::from_gate_error(&refusal, id),
        })
    }

    fn cancel(&mut self, reason: CancelReason) -> RpcResponse {
        // Replacing the work drops the future, which cancels the call at the server.
        self.work = LegacyCallWork::Call(Box::pin(std::future::pending()));
        match reason {
            CancelReason::Cancelled => {
                RpcResponse::failure(self.call.id(), code::REQUEST_CANCELLED, "request cancelled")
            }
            CancelReason::SessionClosed => RpcResponse::failure(
                self.call.id(),
                code::CONNECTION_CLOSED,
                "the session has ended",
            ),
        }
    }
}

impl Drop for LegacyRunningCall {
    fn drop(&mut self) {
        self.session.client().pending_requests.remove(self.call.id());
    }
}

/// Requests that came in one batch and are answered in one batch.
pub(crate) struct LegacyBatch {
    pending: Vec<LegacyExchange>,
    responses: Vec<RpcResponse>,
}

impl LegacyBatch {
    pub(crate) fn new(open: Vec<LegacyExchange>) -> Self {
        Self { pending: open, responses: Vec::new() }
    }

    fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<ExchangeStep> {
        let mut at = 0;
        while let Some(exchange) = self.pending.get_mut(at) {
            match exchange.poll_step(context) {
                Poll::Ready(ExchangeStep::Message(message)) => {
                    return Poll::Ready(ExchangeStep::Message(message));
                }
                Poll::Ready(ExchangeStep::Response(reply)) => {
                    self.responses.push(reply);
                    self.pending.remove(at);
                }
                Poll::Pending => at += 1,
            }
        }
        if self.pending.is_empty() {
            let done = std::mem::take(&mut self.responses);
            return Poll::Ready(ExchangeStep::Response(RpcResponse::batch(done)));
        }
        Poll::Pending
    }
}

fn into_option<T>(poll: Poll<T>) -> Option<T> {
    match poll {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
