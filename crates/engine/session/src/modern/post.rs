//! Sends one modern request over HTTP and reads its answer.
//!
//! A broken stream cannot be resumed. The request is then lost, and it is unknown whether it ran.
//! Dropping the future closes the connection, which cancels the request.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use toolgate_transport::http::{EventStream, HttpResponse};
use toolgate_transport::spool::ReceivedBody;
use toolgate_wire::{Frame, MessageKind, MessageOrBatch};

use crate::SessionError;
use crate::core::SessionCore;
use crate::http::{self as carrier, HttpLink};
use crate::inbound::{self, MessageSource};
use crate::large;

/// Sends call `id` and reads its answer.
pub(crate) async fn call(
    core: &Arc<SessionCore>,
    link: &HttpLink,
    id: u64,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Frame, SessionError> {
    answer(core, link, id, link.send(headers, body).await?).await
}

/// Reads the answer to call `id`.
pub(crate) async fn answer(
    core: &Arc<SessionCore>,
    link: &HttpLink,
    id: u64,
    reply: HttpResponse,
) -> Result<Frame, SessionError> {
    if !reply.status.is_success() {
        return Box::pin(read_error_response(core, link, &id.to_string(), reply)).await;
    }
    if reply.is_event_stream() {
        return Box::pin(follow(core, id, reply.into_events(link.limits()))).await;
    }
    let frame = read_single(core, reply.read_body(link.limits()).await?).await?;
    match carrier::is_answer_to(&frame, id) {
        true => Ok(frame),
        false => assign_id(&frame, &id.to_string()).ok_or_else(carrier::another_id),
    }
}

/// Parses one message. This revision has no batches.
pub(super) async fn read_single(
    core: &SessionCore,
    body: ReceivedBody,
) -> Result<Frame, SessionError> {
    match large::read(core, body).await? {
        MessageOrBatch::One(frame) => Ok(frame),
        MessageOrBatch::Batch(_) => Err(SessionError::Protocol("the answer is a batch".into())),
    }
}

/// Reads the stream of a call until its answer.
async fn follow(
    core: &Arc<SessionCore>,
    id: u64,
    mut stream: EventStream,
) -> Result<Frame, SessionError> {
    while let Some(event) = stream.next().await? {
        if event.data.is_empty() {
            continue;
        }
        let frame = read_single(core, event.data).await?;
        if carrier::is_answer_to(&frame, id) {
            return Ok(frame);
        }
        inbound::receive(core, frame, MessageSource::Call(id));
    }
    Err(SessionError::Ended("the stream ended before the answer came".into()))
}

/// Reads a response with an error status: returns the JSON-RPC error it carries, or fails with the
/// status.
pub(crate) async fn read_error_response(
    core: &SessionCore,
    link: &HttpLink,
    id: &str,
    reply: HttpResponse,
) -> Result<Frame, SessionError> {
    let status = reply.status;
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Err(link.status_error(reply).await);
    }
    let body = reply.read_bytes(carrier::ERROR_BODY_LIMITS).await?;
    let answer = Frame::parse(body.clone(), &core.limits).ok();
    let own = |frame: &Frame| frame.id().is_some_and(|own| own.raw() == id);
    let answer = answer.filter(|frame| frame.kind() == MessageKind::Failure);
    match answer {
        Some(frame) if own(&frame) => Ok(frame),
        Some(frame) => assign_id(&frame, id).ok_or_else(carrier::another_id),
        None => Err(carrier::unexpected(status, &body)),
    }
}

/// Assigns the id of the request to an error without an id, which is legal. Returns `None` if the
/// message is not such an error.
pub(crate) fn assign_id(frame: &Frame, id: &str) -> Option<Frame> {
    let error = frame.error().filter(|_| frame.id().is_none())?;
    let whole = [b"{\"jsonrpc\":\"2.0\",\"id\":", id.as_bytes(), b",\"error\":", error, b"}"];
    Frame::parse(whole.concat().into(), &toolgate_wire::MessageLimits::MAX).ok()
}
