//! The exchange of one request: messages for the client, then one response.
//!
//! Both eras use it. They differ only in how a call asks its client ([`QuestionDelivery`]). The
//! transport polls an exchange in its own task; an exchange has no task and no channel. Dropping it
//! cancels the request at the server. If a transport loses its client and the call should continue,
//! it polls the exchange elsewhere. A call that has asked a modern client something stays alive,
//! parked.

mod call;
mod client_capabilities;
mod in_flight_requests;
mod message_backlog;
mod response;
mod running_call;

use std::borrow::Cow;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use toolgate_host::Caller;
use toolgate_model::CapabilityKind;
use toolgate_transport::chunked_message::OutgoingMessage;
use toolgate_wire::{Frame, OwnedRequestId, code, scan};

use crate::Gate;
use crate::modern::{ListenExchange, ParkedCalls};

pub(crate) use call::{Call, CancelReason, QuestionDelivery, ResponseMode};
pub(crate) use client_capabilities::ClientCapabilities;
pub(crate) use in_flight_requests::InFlightRequests;
pub(crate) use response::{ResponseContent, RpcResponse};
pub(crate) use running_call::{InFlightGuard, Outcome, RunningCall};

/// The next step of an exchange.
pub(crate) enum ExchangeOutput {
    /// A message for the client: progress, a log message or a question.
    Message(Bytes),
    /// The response.
    Response(RpcResponse),
}

/// The exchange of one message.
pub(crate) enum Exchange {
    /// The response is ready.
    Answered(RpcResponse),
    /// A request in flight.
    Running(RunningCall),
    /// Several requests in one message (2025-03-26).
    Batch(BatchExchange),
    /// A client that listens for changes (2026-07-28).
    Listen(Box<ListenExchange>),
    /// The response was taken.
    Done,
}

/// A destination for messages to the client. Each message is a single line.
pub(crate) trait MessageSink: Send + Sync {
    /// Sends a message, or keeps it until it can be sent.
    fn send(&self, message: OutgoingMessage);
}

impl Exchange {
    /// Creates an exchange that answers with an error.
    pub(crate) fn failed(id: &OwnedRequestId, code: i32, message: &str) -> Self {
        Self::Answered(RpcResponse::failure(id, code, message))
    }

    /// Returns the next step. After the response there is none.
    pub(crate) fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<ExchangeOutput> {
        let step = match self {
            Self::Running(running) => match ready!(running.poll_step(context)) {
                Some(step) => step,
                None => return self.park(context),
            },
            Self::Batch(batch) => ready!(batch.poll_step(context)),
            Self::Listen(listening) => ready!(listening.poll_step(context)),
            Self::Answered(_) | Self::Done => match std::mem::replace(self, Self::Done) {
                Self::Answered(reply) => ExchangeOutput::Response(reply),
                _ => return Poll::Pending,
            },
        };
        if matches!(step, ExchangeOutput::Response(_)) {
            *self = Self::Done;
        }
        Poll::Ready(step)
    }

    /// Ends this exchange with the questions of its call, which continues with the client's retry.
    fn park(&mut self, context: &Context<'_>) -> Poll<ExchangeOutput> {
        let Self::Running(running) = std::mem::replace(self, Self::Done) else {
            return Poll::Pending;
        };
        match ParkedCalls::park(Box::new(running)) {
            Ok(reply) => Poll::Ready(ExchangeOutput::Response(reply)),
            // There is no room: the servers get no answer to their questions, and the call
            // continues.
            Err(running) => {
                if let Some(rounds) = running.call.rounds() {
                    rounds.state.lock().questions.reject_all();
                }
                *self = Self::Running(*running);
                context.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }

    /// Polls the exchange until its response, and sends all messages before it to `sink`.
    pub(crate) async fn run(&mut self, sink: &dyn MessageSink) -> RpcResponse {
        loop {
            match poll_fn(|context| self.poll_step(context)).await {
                ExchangeOutput::Message(message) => sink.send(message.into()),
                ExchangeOutput::Response(reply) => return reply,
            }
        }
    }
}

/// Requests that came in one batch and are answered in one batch.
pub(crate) struct BatchExchange {
    pending: Vec<Exchange>,
    responses: Vec<RpcResponse>,
}

impl BatchExchange {
    pub(crate) fn new(pending: Vec<Exchange>) -> Self {
        Self { pending, responses: Vec::new() }
    }

    fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<ExchangeOutput> {
        let mut at = 0;
        while let Some(exchange) = self.pending.get_mut(at) {
            match exchange.poll_step(context) {
                Poll::Ready(ExchangeOutput::Response(reply)) => {
                    self.responses.push(reply);
                    self.pending.remove(at);
                }
                Poll::Ready(message) => return Poll::Ready(message),
                Poll::Pending => at += 1,
            }
        }
        if !self.pending.is_empty() {
            return Poll::Pending;
        }
        let done = std::mem::take(&mut self.responses);
        Poll::Ready(ExchangeOutput::Response(RpcResponse::batch(done)))
    }
}

/// Passes a request to the gate. The future owns what it needs, so that a call can outlive the
/// connection that brought it; its box is the only allocation of that kind per call.
pub(crate) fn pass(
    gate: &Arc<Gate>,
    request: Frame,
    caller: &Arc<Caller>,
    call: &Arc<Call>,
) -> BoxFuture<'static, Outcome> {
    let (gate, caller, call) = (gate.clone(), caller.clone(), call.clone());
    Box::pin(async move { Outcome::Answer(gate.pass(&request, &caller, call).await) })
}

/// Fetches a prepared list from the gate.
pub(crate) fn list(
    gate: &Arc<Gate>,
    kind: CapabilityKind,
    caller: &Arc<Caller>,
) -> BoxFuture<'static, Outcome> {
    let (gate, caller) = (gate.clone(), caller.clone());
    Box::pin(async move { Outcome::List(gate.list(kind, &caller).await) })
}

/// Returns the id and the method of a request, and the kind that it lists if it is a list request.
/// Returns the response to a request that cannot be served.
pub(crate) fn parse_request(
    request: &Frame,
) -> Result<(OwnedRequestId, Cow<'_, str>, Option<CapabilityKind>), RpcResponse> {
    let (Some(id), Some(name)) = (request.id().map(|id| id.to_owned()), request.method()) else {
        let error = "a request must have an id and a method";
        return Err(RpcResponse::invalid(error));
    };
    let listed = listed_kind(&name);
    match listed.is_some() && has_cursor(request) {
        true => Err(RpcResponse::failure(&id, code::INVALID_PARAMS, "unknown cursor")),
        false => Ok((id, name, listed)),
    }
}

/// Returns true if a list request has a cursor. Lists have a single page, so the gateway never
/// issues cursors.
fn has_cursor(request: &Frame) -> bool {
    let params = request.params().unwrap_or_default();
    let cursor = scan::member(params, "cursor").map(|cursor| cursor.slice(params));
    cursor.is_some_and(|cursor| cursor != b"null")
}

/// Returns the kind of capability that a list method lists.
pub(crate) fn listed_kind(name: &str) -> Option<CapabilityKind> {
    CapabilityKind::ALL.into_iter().find(|kind| kind.list_method() == Some(name))
}
