//! A request in flight. The transport polls it, or a task while it is parked.
//!
//! Dropping it cancels the request at the server.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::time::{Sleep, sleep};
use toolgate_host::GateError;
use toolgate_model::ErrorCode;
use toolgate_wire::{Frame, OwnedRequestId};

use super::{Call, CancelReason, ExchangeOutput, QuestionDelivery, RpcResponse};
use crate::modern::QuestionSendTime;

/// How long the gateway waits for more questions before it asks the client.
const QUESTION_WINDOW: Duration = Duration::from_millis(20);

/// The outcome of a request, before it gets the client's request id.
pub(crate) enum Outcome {
    /// The server's answer, or why the gate refused the request.
    Answer(Result<Frame, GateError>),
    /// A prepared list.
    List(Bytes),
}

/// One request in flight.
pub(crate) struct RunningCall {
    pub(crate) call: Arc<Call>,
    /// The id of the request that the client currently waits for.
    pub(crate) id: OwnedRequestId,
    /// Dropping it cancels the request at the server.
    work: Option<BoxFuture<'static, Outcome>>,
    outcome: Option<Outcome>,
    question_window: Option<Pin<Box<Sleep>>>,
    /// Counts a modern request. Those of a session are counted in its table.
    pub(crate) in_flight: Option<InFlightGuard>,
}

impl RunningCall {
    pub(crate) fn new(
        call: Arc<Call>,
        id: OwnedRequestId,
        work: BoxFuture<'static, Outcome>,
        in_flight: Option<InFlightGuard>,
    ) -> Self {
        Self { call, id, work: Some(work), outcome: None, question_window: None, in_flight }
    }

    /// Returns the next step, or `None` if the client must be asked before there is one.
    pub(super) fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<Option<ExchangeOutput>> {
        if let Poll::Ready(reason) = self.call.poll_cancelled(context) {
            self.cancel(reason);
        }
        self.poll_work(context);
        // Messages from before the answer are sent before it.
        if let Poll::Ready(message) = self.call.poll_message(context) {
            return Poll::Ready(Some(ExchangeOutput::Message(message)));
        }
        if let Some(outcome) = self.outcome.take() {
            return Poll::Ready(Some(ExchangeOutput::Response(self.to_response(outcome))));
        }
        let rounds = self.call.rounds();
        match rounds.and_then(|rounds| rounds.state.lock().questions.timing()) {
            Some(QuestionSendTime::Now) => Poll::Ready(None),
            Some(QuestionSendTime::Soon) => {
                let new_window = || Box::pin(sleep(QUESTION_WINDOW));
                let window = self.question_window.get_or_insert_with(new_window);
                window.as_mut().poll(context).map(|()| None)
            }
            None => {
                self.question_window = None;
                Poll::Pending
            }
        }
    }

    /// Polls the work, whether or not a client waits for its outcome.
    pub(crate) fn poll_work(&mut self, context: &mut Context<'_>) {
        let Some(work) = &mut self.work else { return };
        if let Poll::Ready(outcome) = work.as_mut().poll(context) {
            self.work = None;
            self.outcome = Some(outcome);
        }
    }

    fn cancel(&mut self, reason: CancelReason) {
        if self.work.take().is_none() {
            return;
        }
        let (code, message) = match reason {
            CancelReason::Cancelled => (ErrorCode::CallCancelled, "request cancelled"),
            CancelReason::SessionClosed => (ErrorCode::SessionEnded, "the session has ended"),
        };
        self.outcome = Some(Outcome::Answer(Err(GateError::new(code, message))));
    }

    fn to_response(&self, outcome: Outcome) -> RpcResponse {
        match outcome {
            Outcome::List(list) => RpcResponse::shared_result(&self.id, list),
            Outcome::Answer(Err(refusal)) => RpcResponse::from_gate_error(&refusal, &self.id),
            Outcome::Answer(Ok(answer)) => {
                let rounds = self.call.rounds();
                match rounds.and_then(|it| it.missing_capabilities.explain_failure(&answer)) {
                    Some(refusal) => RpcResponse::from_gate_error(&refusal, &self.id),
                    None => RpcResponse::from_answer(&answer, &self.id),
                }
            }
        }
    }

    /// Marks the call as parked: no client waits for its answer.
    pub(crate) fn mark_parked(&mut self) {
        self.in_flight = None;
        self.question_window = None;
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        if let QuestionDelivery::Requests(client, _) = &self.call.asking {
            client.pending_requests.remove(&self.id);
        }
    }
}

/// Counts a request in flight until it is dropped.
pub(crate) struct InFlightGuard(Arc<AtomicUsize>);

impl InFlightGuard {
    pub(crate) fn new(counter: &Arc<AtomicUsize>) -> Self {
        counter.fetch_add(1, Ordering::Relaxed);
        Self(counter.clone())
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
