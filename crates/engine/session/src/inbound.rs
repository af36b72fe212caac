//! Where a message of the server goes.

use std::sync::Arc;

use toolgate_model::CapabilityKind;
use toolgate_wire::{Frame, Id, Kind, Message, build, code, meta, method, scan};

use crate::core::{Core, Link};
use crate::modern::envelope;
use crate::{SessionError, asks};

/// On which stream a message came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Came {
    /// On one that carries everything: a pipe, or the standing stream of an HTTP session.
    Anywhere,
    /// On the stream that answers this call.
    With(u64),
    /// On the stream a modern server reports changes on.
    Listening,
}

/// Takes whatever arrived in one piece to whom it concerns.
pub(crate) fn arrived(core: &Arc<Core>, message: Message, came: Came) {
    match message {
        Message::One(frame) => receive(core, frame, came),
        Message::Batch(messages) => {
            for message in messages {
                match message {
                    Ok(frame) => receive(core, frame, came),
                    Err(error) => unreadable(core, error),
                }
            }
        }
    }
}

/// Takes one message to whom it concerns.
pub(crate) fn receive(core: &Arc<Core>, frame: Frame, came: Came) {
    match frame.kind() {
        Kind::Response | Kind::Failure => answer(core, frame),
        Kind::Notification => notification(core, frame, came),
        Kind::Request => request(core, frame, came),
    }
}

/// An answer is taken only under an id we gave, spelled as we spelled it.
fn answer(core: &Arc<Core>, frame: Frame) {
    let id = frame.id().and_then(Id::as_u64);
    if id.is_none() && core.is_modern() {
        return core.listener.answered(frame);
    }
    let known = id.is_some_and(|id| core.flights.land(id, Ok(frame)));
    if !known {
        tracing::debug!(target: "toolgate::session", server = %core.server, ?id, "stray answer");
    }
}

fn notification(core: &Arc<Core>, frame: Frame, came: Came) {
    let Some(name) = frame.method() else { return };
    let list = |kind| core.owner.list_changed(kind);
    match name.as_ref() {
        method::PROGRESS => progress(core, &frame),
        method::CANCELLED => {
            if !core.listener.cancelled(&frame) {
                asks::take_back(core, &frame);
            }
        }
        method::SUBSCRIPTIONS_ACKNOWLEDGED => core.listener.acknowledged(&frame),
        method::ELICITATION_COMPLETE => completed(core, frame),
        method::TOOLS_LIST_CHANGED => list(CapabilityKind::Tool),
        method::PROMPTS_LIST_CHANGED => list(CapabilityKind::Prompt),
        method::RESOURCES_LIST_CHANGED => {
            list(CapabilityKind::Resource);
            list(CapabilityKind::Template);
        }
        // These are for whoever subscribed or began the task, whatever is being called meanwhile.
        method::RESOURCES_UPDATED | method::TASKS_STATUS | method::TASKS_CHANGED => {
            if core.meter.admit() {
                core.owner.notified(unaddressed(core, frame));
            }
        }
        _ => remark(core, frame, came),
    }
}

/// A report of a modern server without the listen it came on, which is nobody's but ours.
fn unaddressed(core: &Core, frame: Frame) -> Frame {
    if !core.is_modern() {
        return frame;
    }
    let edit = envelope::without(frame.edit(), &frame, &[meta::SUBSCRIPTION_ID]);
    edit.frame().unwrap_or(frame)
}

/// Progress is for the call whose token it bears; anything else is nobody's.
fn progress(core: &Core, frame: &Frame) {
    let Some(id) = frame.progress_token().and_then(Id::as_u64) else { return };
    let Some(port) = core.flights.sign(id) else { return };
    let Some((token, span)) = core.flights.token(id).zip(frame.progress_token_span()) else {
        return;
    };
    if !core.meter.admit() {
        return;
    }
    if let Ok(theirs) = frame.edit().replace(span, token.as_bytes()).frame() {
        port.tell(theirs);
    }
}

/// A log line, or a notification we do not know, belongs to the call on whose stream it came, or to
/// the only one there is.
fn remark(core: &Core, frame: Frame, came: Came) {
    if !core.meter.admit() {
        return;
    }
    let port = match came {
        Came::With(id) => core.flights.sign(id),
        Came::Anywhere => core.flights.only().map(|(_, port)| port),
        Came::Listening => None,
    };
    match port {
        Some(port) => port.tell(frame),
        None => core.owner.notified(unaddressed(core, frame)),
    }
}

fn completed(core: &Core, frame: Frame) {
    if let Some(id) = scan::text(frame.params().unwrap_or_default(), "elicitationId") {
        core.completions.complete(&id);
    }
    core.owner.notified(frame);
}

fn request(core: &Arc<Core>, frame: Frame, came: Came) {
    let Some(id) = frame.id() else { return };
    if core.is_modern() {
        return forbidden(core, id);
    }
    match frame.method().as_deref() {
        Some(method::PING) => core.post(build::response(id.raw(), b"{}")),
        _ => asks::receive(core, frame, came),
    }
}

/// A modern server must not send requests. On a pipe it is told so; on HTTP nothing can be said.
fn forbidden(core: &Core, id: Id<'_>) {
    tracing::debug!(target: "toolgate::session", server = %core.server, "a request of a modern server");
    if let Link::Line(link) = &core.link {
        let error = "a server of this revision asks through its results";
        link.send(&build::failure(Some(id.raw()), code::METHOD_NOT_FOUND, error, None));
    }
}

/// A message that could not be read. If it names a call, that call fails; otherwise it is noise.
pub(crate) fn unreadable(core: &Core, error: toolgate_wire::WireError) {
    let id = error.id().and_then(|id| id.as_u64());
    let known = id.is_some_and(|id| core.flights.land(id, Err(SessionError::Wire(error))));
    if !known {
        tracing::debug!(target: "toolgate::session", server = %core.server, "unreadable message");
    }
}

/// Refuses a server's request.
pub(crate) fn refuse(core: &Core, frame: &Frame, message: &str) {
    if let Some(id) = frame.id() {
        core.post(build::failure(Some(id.raw()), code::INTERNAL_ERROR, message, None));
    }
}
