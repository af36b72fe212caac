//! Dispatches the messages of a session.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::future::BoxFuture;
use toolgate_wire::view::LogLevel;
use toolgate_wire::{
    Frame, MessageKind, MessageOrBatch, OwnedRequestId, WireError, code, method, scan,
};

use super::{LegacySession, notifications};
use crate::exchange::{
    self, BatchExchange, Call, CancelReason, Exchange, Outcome, QuestionDelivery, ResponseMode,
    RpcResponse, RunningCall,
};
use crate::rejection::Rejection;

/// The error for a message before `initialize`.
pub(crate) const NOT_INITIALIZED: &str = "the session is not initialized";

/// Answers a request before `initialize`. Only `ping` succeeds.
pub(crate) fn answer_uninitialized(request: &Frame) -> Option<RpcResponse> {
    let id = request.id()?.to_owned();
    Some(match request.is(method::PING) {
        true => RpcResponse::result(&id, b"{}"),
        false => RpcResponse::failure(&id, code::INVALID_REQUEST, NOT_INITIALIZED),
    })
}

impl LegacySession {
    /// Handles a message. Returns `None` if nothing in it needs an answer, and an error if the
    /// session cannot take such a message.
    pub(crate) fn handle_message(
        self: &Arc<Self>,
        message: MessageOrBatch,
        response_mode: ResponseMode,
    ) -> Result<Option<Exchange>, Rejection> {
        match message {
            MessageOrBatch::One(frame) if frame.kind() == MessageKind::Request => {
                Ok(Some(self.handle_request(frame, response_mode)))
            }
            MessageOrBatch::One(frame) => {
                self.handle_one_way(frame);
                Ok(None)
            }
            MessageOrBatch::Batch(messages) => self.handle_batch(messages, response_mode),
        }
    }

    /// Starts to answer a request.
    pub(crate) fn handle_request(
        self: &Arc<Self>,
        request: Frame,
        response_mode: ResponseMode,
    ) -> Exchange {
        let (id, name, listed) = match exchange::parse_request(&request) {
            Ok(parsed) => parsed,
            Err(reply) => return Exchange::Answered(reply),
        };
        if let Some(kind) = listed {
            let call = self.new_call(response_mode, true);
            return self.start(id, call, |_| exchange::list(&self.gate, kind, &self.caller));
        }
        match name.as_ref() {
            method::RESOURCES_SUBSCRIBE | method::RESOURCES_UNSUBSCRIBE => {
                self.start_subscription(request, id, response_mode)
            }
            method::PING => Exchange::Answered(RpcResponse::result(&id, b"{}")),
            method::LOGGING_SET_LEVEL => Exchange::Answered(self.set_level(&request, &id)),
            method::INITIALIZE => {
                Exchange::failed(&id, code::INVALID_REQUEST, "the session is already initialized")
            }
            // A server may know methods that the gateway does not.
            _ => self.start_call(request, id, response_mode),
        }
    }

    /// Starts to answer a batch.
    fn handle_batch(
        self: &Arc<Self>,
        messages: Vec<Result<Frame, WireError>>,
        response_mode: ResponseMode,
    ) -> Result<Option<Exchange>, Rejection> {
        if !self.caller.revision.has_batches() {
            let error = format!("batches are not part of {}", self.caller.revision);
            return Err(Rejection::invalid_request(None, &error));
        }
        let mut open = Vec::new();
        for message in messages {
            match message {
                Ok(frame) if frame.kind() == MessageKind::Request => {
                    open.push(self.handle_request(frame, response_mode));
                }
                Ok(frame) => self.handle_one_way(frame),
                Err(error) => {
                    open.push(Exchange::Answered(Rejection::parse_error(&error).to_response()));
                }
            }
        }
        Ok((!open.is_empty()).then(|| Exchange::Batch(BatchExchange::new(open))))
    }

    /// Handles a message that needs no answer.
    fn handle_one_way(&self, frame: Frame) {
        match (frame.kind(), frame.method().as_deref()) {
            (MessageKind::Response | MessageKind::Failure, _) => {
                self.client.questions.deliver_answer(frame)
            }
            (_, Some(method::INITIALIZED)) => self.mark_ready(),
            (_, Some(method::CANCELLED)) => {
                let id = frame.request_ref().map(|id| id.to_owned());
                let call = id.and_then(|id| self.client.pending_requests.get(&id));
                if let Some(call) = call {
                    call.cancel(CancelReason::Cancelled);
                }
            }
            // Progress on a question is not used, and servers request roots anew each time.
            (_, method) => {
                tracing::trace!(target: "toolgate::gateway", ?method, "ignored a notification");
            }
        }
    }

    fn mark_ready(&self) {
        let first = !self.ready.swap(true, Ordering::AcqRel);
        if first && self.client.wants_level(notifications::LOG_LEVEL) {
            self.client.send(notifications::session_ready(&self.caller).into());
        }
    }

    fn start_call(
        self: &Arc<Self>,
        request: Frame,
        id: OwnedRequestId,
        response_mode: ResponseMode,
    ) -> Exchange {
        let call = self.new_call(response_mode, false);
        self.start(id, call, |call| exchange::pass(&self.gate, request, &self.caller, call))
    }

    /// Starts a change of subscription, and records it if a server accepts it.
    fn start_subscription(
        self: &Arc<Self>,
        request: Frame,
        id: OwnedRequestId,
        response_mode: ResponseMode,
    ) -> Exchange {
        let Some(uri) = request.name().map(|uri| uri.into_owned()) else {
            return self.start_call(request, id, response_mode);
        };
        let (session, call) = (self.clone(), self.new_call(response_mode, false));
        self.start(id, call, |call| {
            let call = call.clone();
            Box::pin(async move {
                let answer = session.gate.pass(&request, &session.caller, call).await;
                if answer.as_ref().is_ok_and(|frame| frame.kind() == MessageKind::Response) {
                    match request.is(method::RESOURCES_SUBSCRIBE) {
                        true => session.subscriptions.lock().insert(uri),
                        false => session.subscriptions.lock().remove(&uri),
                    };
                }
                Outcome::Answer(answer)
            })
        })
    }

    fn new_call(&self, response_mode: ResponseMode, is_list: bool) -> Arc<Call> {
        Call::new(QuestionDelivery::Requests(self.client.clone(), response_mode), is_list)
    }

    /// Registers a call and starts its work.
    fn start(
        &self,
        id: OwnedRequestId,
        call: Arc<Call>,
        work: impl FnOnce(&Arc<Call>) -> BoxFuture<'static, Outcome>,
    ) -> Exchange {
        match self.client.pending_requests.insert(id.clone(), || call.clone()) {
            Ok(()) => {
                let work = work(&call);
                Exchange::Running(RunningCall::new(call, id, work, None))
            }
            Err(reason) => Exchange::failed(&id, code::INVALID_REQUEST, reason),
        }
    }

    fn set_level(&self, request: &Frame, id: &OwnedRequestId) -> RpcResponse {
        let level = scan::member_text(request.params().unwrap_or_default(), "level");
        let Some(level) = level.and_then(|level| level.parse::<LogLevel>().ok()) else {
            return RpcResponse::failure(id, code::INVALID_PARAMS, "unknown log level");
        };
        self.client.set_level(level);
        self.gate.set_level(self.caller.id, level);
        if self.ready.load(Ordering::Acquire) && self.client.wants_level(notifications::LOG_LEVEL) {
            self.client.send(notifications::level_changed(level).into());
        }
        RpcResponse::result(id, b"{}")
    }
}
