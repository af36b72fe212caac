//! Dispatches the messages of a session.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use toolgate_model::CapabilityKind;
use toolgate_wire::view::LogLevel;
use toolgate_wire::{Frame, MessageKind, OwnedRequestId, WireError, build, code, method, scan};

use super::call::{LegacyCall, ResponseMode};
use super::exchange::{
    LegacyBatch, LegacyCallWork, LegacyExchange, LegacyRunningCall, SubscriptionChange,
};
use super::{LegacySession, RpcResponse, notifications};

impl LegacySession {
    /// Starts to answer a request.
    pub(crate) fn handle_request(
        self: &Arc<Self>,
        request: Frame,
        response_mode: ResponseMode,
    ) -> LegacyExchange {
        let (Some(id), Some(name)) = (request.id().map(|id| id.to_owned()), request.method())
        else {
            return LegacyExchange::Answered(invalid_request(
                None,
                "a request must have an id and a method",
            ));
        };
        if let Some(kind) = listed_kind(&name) {
            return self.start_list(&request, id, kind, response_mode);
        }
        match name.as_ref() {
            method::RESOURCES_SUBSCRIBE => {
                let change =
                    request.name().map(|uri| SubscriptionChange::Subscribe(uri.into_owned()));
                self.start_call(request, id, change, response_mode)
            }
            method::RESOURCES_UNSUBSCRIBE => {
                let change =
                    request.name().map(|uri| SubscriptionChange::Unsubscribe(uri.into_owned()));
                self.start_call(request, id, change, response_mode)
            }
            method::PING => LegacyExchange::Answered(RpcResponse::result(&id, b"{}")),
            method::LOGGING_SET_LEVEL => LegacyExchange::Answered(self.set_level(&request, &id)),
            method::INITIALIZE => LegacyExchange::Answered(invalid_request(
                Some(&id),
                "the session is already initialized",
            )),
            // A server may know methods that the gateway does not.
            _ => self.start_call(request, id, None, response_mode),
        }
    }

    /// Starts to answer a batch. Returns `None` if nothing in it needs an answer, and an error if
    /// the session's revision has no batches.
    pub(crate) fn handle_batch(
        self: &Arc<Self>,
        messages: Vec<Result<Frame, WireError>>,
        response_mode: ResponseMode,
    ) -> Result<Option<LegacyExchange>, RpcResponse> {
        if !self.revision().has_batches() {
            let error = format!("batches are not part of {}", self.revision());
            return Err(invalid_request(None, &error));
        }
        let mut open = Vec::new();
        for message in messages {
            match message {
                Ok(frame) if frame.kind() == MessageKind::Request => {
                    open.push(self.handle_request(frame, response_mode));
                }
                Ok(frame) => self.handle_one_way(frame),
                Err(error) => open.push(LegacyExchange::Answered(RpcResponse::parse_error(&error))),
            }
        }
        Ok((!open.is_empty()).then(|| LegacyExchange::Batch(LegacyBatch::new(open))))
    }

    /// Handles a message that needs no answer.
    pub(crate) fn handle_one_way(&self, frame: Frame) {
        match (frame.kind(), frame.method().as_deref()) {
            (MessageKind::Response | MessageKind::Failure, _) => {
                self.client.questions.deliver_answer(frame)
            }
            (_, Some(method::INITIALIZED)) => self.mark_ready(),
            (_, Some(method::CANCELLED)) => {
                if let Some(id) = frame.request_ref() {
                    self.client.pending_requests.cancel(id);
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
            self.client.send(notifications::session_ready(&self.caller));
        }
    }

    fn start_call(
        self: &Arc<Self>,
        request: Frame,
        id: OwnedRequestId,
        change: Option<SubscriptionChange>,
        response_mode: ResponseMode,
    ) -> LegacyExchange {
        self.start_exchange(id, response_mode, |call| {
            let pass = self.gate.clone().pass(request, self.caller.clone(), call);
            match change {
                Some(change) => LegacyCallWork::Subscription(pass, change),
                None => LegacyCallWork::Call(pass),
            }
        })
    }

    fn start_list(
        self: &Arc<Self>,
        request: &Frame,
        id: OwnedRequestId,
        kind: CapabilityKind,
        response_mode: ResponseMode,
    ) -> LegacyExchange {
        if has_cursor(request) {
            return LegacyExchange::Answered(RpcResponse::failure(
                &id,
                code::INVALID_PARAMS,
                "unknown cursor",
            ));
        }
        self.start_exchange(id, response_mode, |_| {
            LegacyCallWork::List(self.gate.clone().list(kind, self.caller.clone()))
        })
    }

    fn start_exchange(
        self: &Arc<Self>,
        id: OwnedRequestId,
        response_mode: ResponseMode,
        work: impl FnOnce(Arc<LegacyCall>) -> LegacyCallWork,
    ) -> LegacyExchange {
        let call = Arc::new(LegacyCall::new(self.client.clone(), id, response_mode));
        match self.client.pending_requests.insert(&call) {
            Ok(()) => {
                let work = work(call.clone());
                LegacyExchange::Running(LegacyRunningCall::new(self.clone(), call, work))
            }
            Err(reason) => {
                LegacyExchange::Answered(invalid_request(Some(call.id()), reason.as_str()))
            }
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
            self.client.send(notifications::level_changed(level));
        }
        RpcResponse::result(id, b"{}")
    }
}

/// Returns true if a list request has a cursor. Lists have a single page, so the gateway never
/// issues cursors.
pub(crate) fn has_cursor(request: &Frame) -> bool {
    let params = request.params().unwrap_or_default();
    let cursor = scan::member(params, "cursor").map(|cursor| cursor.slice(params));
    cursor.is_some_and(|cursor| cursor != b"null")
}

/// Returns the kind of capability that a list method lists.
pub(crate) fn listed_kind(name: &str) -> Option<CapabilityKind> {
    match name {
        method::TOOLS_LIST => Some(CapabilityKind::Tool),
        method::RESOURCES_LIST => Some(CapabilityKind::Resource),
        method::RESOURCES_TEMPLATES_LIST => Some(CapabilityKind::Template),
        method::PROMPTS_LIST => Some(CapabilityKind::Prompt),
        _ => None,
    }
}

fn invalid_request(id: Option<&OwnedRequestId>, message: &str) -> RpcResponse {
    RpcResponse::from_message(build::error_response(
        id.map(OwnedRequestId::raw),
        code::INVALID_REQUEST,
        message,
        None,
    ))
}
