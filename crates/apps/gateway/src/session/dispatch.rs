//! What each message of the client means.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use toolgate_model::CapabilityKind;
use toolgate_wire::view::LogLevel;
use toolgate_wire::{Frame, Kind, OwnedId, WireError, build, code, method, scan};

use super::call::{Call, Carriage};
use super::exchange::{Batch, Exchange, Running, Subscription, Work};
use super::{Reply, Session, notes};

impl Session {
    /// Begins to answer a request.
    pub(crate) fn request(self: &Arc<Self>, request: Frame, carriage: Carriage) -> Exchange {
        let (Some(id), Some(name)) = (request.id().map(|id| id.to_owned()), request.method())
        else {
            return Exchange::Answered(refusal(None, "a request has an id and a method"));
        };
        if let Some(kind) = listed(&name) {
            return self.list(&request, id, kind, carriage);
        }
        match name.as_ref() {
            method::RESOURCES_SUBSCRIBE => {
                let change = request.name().map(|uri| Subscription::Begin(uri.into_owned()));
                self.pass(request, id, change, carriage)
            }
            method::RESOURCES_UNSUBSCRIBE => {
                let change = request.name().map(|uri| Subscription::End(uri.into_owned()));
                self.pass(request, id, change, carriage)
            }
            method::PING => Exchange::Answered(Reply::result(&id, b"{}")),
            method::LOGGING_SET_LEVEL => Exchange::Answered(self.set_level(&request, &id)),
            method::INITIALIZE => {
                Exchange::Answered(refusal(Some(&id), "the session is initialized already"))
            }
            // What nobody here knows, a server may.
            _ => self.pass(request, id, None, carriage),
        }
    }

    /// Begins to answer a batch, or says that it is not for this session. `None` if nothing in it
    /// wants an answer.
    pub(crate) fn batch(
        self: &Arc<Self>,
        messages: Vec<Result<Frame, WireError>>,
        carriage: Carriage,
    ) -> Result<Option<Exchange>, Reply> {
        if !self.revision().batches() {
            let error = format!("batches are not part of {}", self.revision());
            return Err(refusal(None, &error));
        }
        let mut open = Vec::new();
        for message in messages {
            match message {
                Ok(frame) if frame.kind() == Kind::Request => {
                    open.push(self.request(frame, carriage));
                }
                Ok(frame) => self.take(frame),
                Err(error) => open.push(Exchange::Answered(Reply::unreadable(&error))),
            }
        }
        Ok((!open.is_empty()).then(|| Exchange::Batch(Batch::new(open))))
    }

    /// Takes a message that wants no answer.
    pub(crate) fn take(&self, frame: Frame) {
        match (frame.kind(), frame.method().as_deref()) {
            (Kind::Response | Kind::Failure, _) => self.peer.asks.land(frame),
            (_, Some(method::INITIALIZED)) => self.begin(),
            (_, Some(method::CANCELLED)) => {
                if let Some(id) = frame.request_ref() {
                    self.peer.flights.cancel(id);
                }
            }
            // Progress on a question has no reader, and roots are asked for anew by every server.
            (_, method) => {
                tracing::trace!(target: "toolgate::gateway", ?method, "a notification without effect");
            }
        }
    }

    fn begin(&self) {
        let first = !self.ready.swap(true, Ordering::AcqRel);
        if first && self.peer.admits(notes::LEVEL) {
            self.peer.send(notes::ready(&self.caller));
        }
    }

    fn pass(
        self: &Arc<Self>,
        request: Frame,
        id: OwnedId,
        change: Option<Subscription>,
        carriage: Carriage,
    ) -> Exchange {
        self.run(id, carriage, |call| {
            let pass = self.upstreams.clone().pass(request, self.caller.clone(), call);
            match change {
                Some(change) => Work::Subscription(pass, change),
                None => Work::Pass(pass),
            }
        })
    }

    fn list(
        self: &Arc<Self>,
        request: &Frame,
        id: OwnedId,
        kind: CapabilityKind,
        carriage: Carriage,
    ) -> Exchange {
        if has_cursor(request) {
            return Exchange::Answered(Reply::failure(&id, code::INVALID_PARAMS, "unknown cursor"));
        }
        self.run(id, carriage, |_| {
            Work::List(self.upstreams.clone().list(kind, self.caller.clone()))
        })
    }

    fn run(
        self: &Arc<Self>,
        id: OwnedId,
        carriage: Carriage,
        work: impl FnOnce(Arc<Call>) -> Work,
    ) -> Exchange {
        let call = Arc::new(Call::new(self.peer.clone(), id, carriage));
        match self.peer.flights.begin(&call) {
            Ok(()) => {
                let work = work(call.clone());
                Exchange::Running(Running::new(self.clone(), call, work))
            }
            Err(reason) => Exchange::Answered(refusal(Some(call.id()), reason.as_str())),
        }
    }

    fn set_level(&self, request: &Frame, id: &OwnedId) -> Reply {
        let level = scan::text(request.params().unwrap_or_default(), "level");
        let Some(level) = level.and_then(|level| level.parse::<LogLevel>().ok()) else {
            return Reply::failure(id, code::INVALID_PARAMS, "unknown log level");
        };
        self.peer.set_level(level);
        self.upstreams.set_level(self.caller.id, level);
        if self.ready.load(Ordering::Acquire) && self.peer.admits(notes::LEVEL) {
            self.peer.send(notes::level_set(level));
        }
        Reply::result(id, b"{}")
    }
}

/// Whether a list request wants to go on from somewhere. A list is one page, so there is no cursor
/// of ours that could come back.
pub(crate) fn has_cursor(request: &Frame) -> bool {
    let params = request.params().unwrap_or_default();
    let cursor = scan::member(params, "cursor").map(|cursor| cursor.of(params));
    cursor.is_some_and(|cursor| cursor != b"null")
}

/// What a list request lists.
pub(crate) fn listed(name: &str) -> Option<CapabilityKind> {
    match name {
        method::TOOLS_LIST => Some(CapabilityKind::Tool),
        method::RESOURCES_LIST => Some(CapabilityKind::Resource),
        method::RESOURCES_TEMPLATES_LIST => Some(CapabilityKind::Template),
        method::PROMPTS_LIST => Some(CapabilityKind::Prompt),
        _ => None,
    }
}

fn refusal(id: Option<&OwnedId>, message: &str) -> Reply {
    Reply::whole(build::failure(id.map(OwnedId::raw), code::INVALID_REQUEST, message, None))
}
