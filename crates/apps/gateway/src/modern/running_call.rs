//! A modern request in flight. The transport polls it, or a task while it is parked.
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
use toolgate_wire::{Frame, OwnedRequestId};

use super::call::{CallRound, ModernCall};
use super::questions::{InputResponses, QuestionTiming};
use crate::gate_service::GateError;
use crate::session::RpcResponse;

/// How long the gateway waits for more questions before it asks the client.
const QUESTION_WINDOW: Duration = Duration::from_millis(20);

/// What a request waits for.
pub(crate) enum ModernCallWork {
    /// An answer from a server, through the gate.
    Call(BoxFuture<'static, Result<Frame, GateError>>),
    /// A prepared list.
    List(BoxFuture<'static, Bytes>),
    /// Nothing: the outcome is ready.
    Done(ModernCallOutcome),
    /// Nothing: the outcome was taken.
    Taken,
}

/// The outcome of a call, before it gets the client's request id.
pub(crate) enum ModernCallOutcome {
    Answer(Frame),
    Refused(GateError),
    List(Bytes),
}

/// The next step of a call.
pub(crate) enum ModernCallStep {
    /// A message for the client.
    Message(Bytes),
    /// The client must be asked. The exchange cannot continue without answers.
    InputRequired,
    /// The response.
    Response(RpcResponse),
}

/// One request in flight.
pub(crate) struct ModernRunningCall {
    pub(crate) call: Arc<ModernCall>,
    /// The request as the client first sent it.
    pub(crate) request: Frame,
    id: OwnedRequestId,
    work: ModernCallWork,
    question_window: Option<Pin<Box<Sleep>>>,
    in_flight: Option<InFlightGuard>,
}

impl ModernRunningCall {
    pub(crate) fn new(
        request: Frame,
        id: OwnedRequestId,
        call: Arc<ModernCall>,
        work: ModernCallWork,
        in_flight: InFlightGuard,
    ) -> Self {
        Self { call, request, id, work, question_window: None, in_flight: Some(in_flight) }
    }

    /// Returns the id of the request that the client currently waits for.
    pub(crate) fn id(&self) -> &OwnedRequestId {
        &self.id
    }

    pub(crate) fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<ModernCallStep> {
        self.call.register_waker(context);
        self.poll_work(context);
        // Messages from before the answer are sent before it.
        let urgency = match self.call.next_output() {
            (Some(message), _) => return Poll::Ready(ModernCallStep::Message(message)),
            (None, urgency) => urgency,
        };
        if let Some(reply) = self.take_response() {
            return Poll::Ready(ModernCallStep::Response(reply));
        }
        match urgency {
            Some(QuestionTiming::Now) => Poll::Ready(ModernCallStep::InputRequired),
            Some(QuestionTiming::Soon) => {
                self.poll_window(context).map(|()| ModernCallStep::InputRequired)
            }
            None => {
                self.question_window = None;
                Poll::Pending
            }
        }
    }

    fn poll_window(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let window = self.question_window.get_or_insert_with(|| Box::pin(sleep(QUESTION_WINDOW)));
        window.as_mut().poll(context)
    }

    /// Polls the work, whether or not a client waits for its outcome.
    pub(crate) fn poll_work(&mut self, context: &mut Context<'_>) {
        let outcome = match &mut self.work {
            ModernCallWork::Call(pass) => match pass.as_mut().poll(context) {
                Poll::Ready(Ok(frame)) => ModernCallOutcome::Answer(frame),
                Poll::Ready(Err(refusal)) => ModernCallOutcome::Refused(refusal),
                Poll::Pending => return,
            },
            ModernCallWork::List(list) => match list.as_mut().poll(context) {
                Poll::Ready(list) => ModernCallOutcome::List(list),
                Poll::Pending => return,
            },
            ModernCallWork::Done(_) | ModernCallWork::Taken => return,
        };
        self.work = ModernCallWork::Done(outcome);
    }

    fn take_response(&mut self) -> Option<RpcResponse> {
        if !matches!(self.work, ModernCallWork::Done(_)) {
            return None;
        }
        match std::mem::replace(&mut self.work, ModernCallWork::Taken) {
            ModernCallWork::Done(ModernCallOutcome::Answer(frame)) => {
                Some(match self.call.missing_capabilities.explain_failure(&frame) {
                    Some(refusal) => RpcResponse::from_gate_error(&refusal, &self.id),
                    None => RpcResponse::from_answer(&frame, &self.id),
                })
            }
            ModernCallWork::Done(ModernCallOutcome::Refused(refusal)) => {
                Some(RpcResponse::from_gate_error(&refusal, &self.id))
            }
            ModernCallWork::Done(ModernCallOutcome::List(list)) => {
                Some(RpcResponse::shared_result(&self.id, list))
            }
            _ => None,
        }
    }

    /// Marks the call as parked: no client waits for its answer.
    pub(crate) fn mark_parked(&mut self) {
        self.in_flight = None;
        self.question_window = None;
    }

    /// Continues a parked call with the client's answers and a new request id.
    pub(crate) fn resume(
        mut self,
        id: OwnedRequestId,
        round: CallRound,
        back: (InputResponses, InFlightGuard),
    ) -> Self {
        let (answers, in_flight) = back;
        self.call.resume(round, answers);
        self.id = id;
        self.in_flight = Some(in_flight);
        self
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
