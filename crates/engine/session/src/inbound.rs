//! Dispatches the messages of the server.

use std::sync::Arc;

use toolgate_model::CapabilityKind;
use toolgate_wire::{
    Frame, MessageKind, MessageOrBatch, RequestId, build, code, meta, method, scan,
};

use crate::core::{SessionCore, SessionTransport};
use crate::modern::envelope;
use crate::{SessionError, open_questions};

/// The stream on which a message arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageSource {
    /// A stream shared by all calls: a pipe, or the GET stream of an HTTP session.
    Shared,
    /// The stream that answers this call.
    Call(u64),
    /// The stream on which a modern server reports changes.
    Listen,
}

/// Dispatches a message or all messages of a batch.
pub(crate) fn receive_message(
    core: &Arc<SessionCore>,
    message: MessageOrBatch,
    came: MessageSource,
) {
    match message {
        MessageOrBatch::One(frame) => receive(core, frame, came),
        MessageOrBatch::Batch(messages) => {
            for message in messages {
                match message {
                    Ok(frame) => receive(core, frame, came),
                    Err(error) => handle_unreadable(core, error),
                }
            }
        }
    }
}

/// Dispatches one message.
pub(crate) fn receive(core: &Arc<SessionCore>, frame: Frame, came: MessageSource) {
    match frame.kind() {
        MessageKind::Response | MessageKind::Failure => answer(core, frame),
        MessageKind::Notification => notification(core, frame, came),
        MessageKind::Request => request(core, frame, came),
    }
}

/// Delivers an answer to its call. Accepts only ids of this session, in their exact spelling.
fn answer(core: &Arc<SessionCore>, frame: Frame) {
    let id = frame.id().and_then(|id| id.as_u64());
    if id.is_none() && core.is_modern() {
        return core.listen_state.handle_response(frame);
    }
    let known = id.is_some_and(|id| core.pending_requests.complete(id, Ok(frame)));
    if !known {
        tracing::debug!(
            target: "toolgate::session", server = %core.server, ?id,
            "answer to an unknown request"
        );
    }
}

fn notification(core: &Arc<SessionCore>, frame: Frame, came: MessageSource) {
    let Some(name) = frame.method() else { return };
    let list = |kind| core.event_handler.on_list_changed(kind);
    match name.as_ref() {
        method::PROGRESS => progress(core, &frame),
        method::CANCELLED => {
            if !core.listen_state.handle_cancellation(&frame) {
                open_questions::take_back(core, &frame);
            }
        }
        method::SUBSCRIPTIONS_ACKNOWLEDGED => core.listen_state.handle_acknowledgement(&frame),
        method::ELICITATION_COMPLETE => handle_elicitation_complete(core, frame),
        method::TOOLS_LIST_CHANGED => list(CapabilityKind::Tool),
        method::PROMPTS_LIST_CHANGED => list(CapabilityKind::Prompt),
        method::RESOURCES_LIST_CHANGED => {
            list(CapabilityKind::Resource);
            list(CapabilityKind::Template);
        }
        // These belong to the subscriber or the owner of the task, not to a pending call.
        method::RESOURCES_UPDATED | method::TASKS_STATUS | method::TASKS_CHANGED => {
            if core.notification_limiter.admit() {
                core.event_handler.on_notification(remove_subscription_id(core, frame));
            }
        }
        _ => deliver_to_call(core, frame, came),
    }
}

/// Removes the subscription id of a modern server's report, which is internal to the session.
fn remove_subscription_id(core: &SessionCore, frame: Frame) -> Frame {
    if !core.is_modern() {
        return frame;
    }
    let edit = envelope::remove_meta_keys(frame.edit(), &frame, &[meta::SUBSCRIPTION_ID]);
    edit.finish_frame().unwrap_or(frame)
}

/// Delivers progress to the call with its token. Drops progress with an unknown token.
fn progress(core: &SessionCore, frame: &Frame) {
    let Some(id) = frame.progress_token().and_then(|token| token.as_u64()) else { return };
    let Some(port) = core.pending_requests.touch(id) else { return };
    let Some((token, span)) = core.pending_requests.token(id).zip(frame.progress_token_span())
    else {
        return;
    };
    if !core.notification_limiter.admit() {
        return;
    }
    if let Ok(theirs) = frame.edit().replace(span, token.as_bytes()).finish_frame() {
        port.tell(theirs);
    }
}

/// Delivers a log message or an unknown notification to the call on whose stream it arrived, or to
/// the only pending call.
fn deliver_to_call(core: &SessionCore, frame: Frame, came: MessageSource) {
    if !core.notification_limiter.admit() {
        return;
    }
    let port = match came {
        MessageSource::Call(id) => core.pending_requests.touch(id),
        MessageSource::Shared => core.pending_requests.only().map(|(_, port)| port),
        MessageSource::Listen => None,
    };
    match port {
        Some(port) => port.tell(frame),
        None => core.event_handler.on_notification(remove_subscription_id(core, frame)),
    }
}

fn handle_elicitation_complete(core: &SessionCore, frame: Frame) {
    if let Some(id) = scan::member_text(frame.params().unwrap_or_default(), "elicitationId") {
        core.awaited_elicitations.complete(&id);
    }
    core.event_handler.on_notification(frame);
}

fn request(core: &Arc<SessionCore>, frame: Frame, came: MessageSource) {
    let Some(id) = frame.id() else { return };
    if core.is_modern() {
        return refuse_modern_request(core, id);
    }
    match frame.method().as_deref() {
        Some(method::PING) => core.post(build::response(id.raw(), b"{}")),
        _ => open_questions::receive(core, frame, came),
    }
}

/// Refuses a request of a modern server, which must not send any. A refusal is possible only on a
/// pipe, not on HTTP.
fn refuse_modern_request(core: &SessionCore, id: RequestId<'_>) {
    tracing::debug!(
        target: "toolgate::session", server = %core.server,
        "a modern server sent a request"
    );
    if let SessionTransport::Line(link) = &core.link {
        let error = "servers of this revision must not send requests; ask through results instead";
        link.send(&build::error_response(Some(id.raw()), code::METHOD_NOT_FOUND, error, None));
    }
}

/// Handles a message that cannot be parsed. If it has the id of a pending call, that call fails;
/// otherwise the message is ignored.
pub(crate) fn handle_unreadable(core: &SessionCore, error: toolgate_wire::WireError) {
    let id = error.id().and_then(|id| id.as_u64());
    let known =
        id.is_some_and(|id| core.pending_requests.complete(id, Err(SessionError::Wire(error))));
    if !known {
        tracing::debug!(target: "toolgate::session", server = %core.server, "unreadable message");
    }
}

/// Refuses a server's request.
pub(crate) fn refuse(core: &SessionCore, frame: &Frame, message: &str) {
    if let Some(id) = frame.id() {
        core.post(build::error_response(Some(id.raw()), code::INTERNAL_ERROR, message, None));
    }
}
