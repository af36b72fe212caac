//! One request on HTTP without a session: a POST whose answer is all there is.
//!
//! Nothing is resumed: a stream that breaks has lost its request, and whether that ran is not
//! known. Dropping the future closes the connection, which is how a request is cancelled.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use toolgate_transport::http::{EventStream, Reply};
use toolgate_transport::spool::Body;
use toolgate_wire::{Frame, Kind, Message};

use crate::SessionError;
use crate::core::Core;
use crate::http::{self as carrier, HttpLink};
use crate::inbound::{self, Came};
use crate::large;

/// Sends call `id` and reads its answer.
pub(crate) async fn call(
    core: &Arc<Core>,
    link: &HttpLink,
    id: u64,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Frame, SessionError> {
    answer(core, link, id, link.send(headers, body).await?).await
}

/// Reads the answer to call `id`.
pub(crate) async fn answer(
    core: &Arc<Core>,
    link: &HttpLink,
    id: u64,
    reply: Reply,
) -> Result<Frame, SessionError> {
    if !reply.status.is_success() {
        return Box::pin(refused(core, link, &id.to_string(), reply)).await;
    }
    if reply.is_event_stream() {
        return Box::pin(follow(core, id, reply.into_events(link.limits()))).await;
    }
    let frame = one(core, reply.body(link.limits()).await?).await?;
    match carrier::answers(&frame, id) {
        true => Ok(frame),
        false => adopt(&frame, &id.to_string()).ok_or_else(carrier::another_id),
    }
}

/// Reads a message; this revision has no batches.
pub(super) async fn one(core: &Core, body: Body) -> Result<Frame, SessionError> {
    match large::read(core, body).await? {
        Message::One(frame) => Ok(frame),
        Message::Batch(_) => Err(SessionError::Protocol("it answers with a batch".into())),
    }
}

/// Reads a call's stream to its answer.
async fn follow(core: &Arc<Core>, id: u64, mut stream: EventStream) -> Result<Frame, SessionError> {
    while let Some(event) = stream.next().await? {
        if event.data.is_empty() {
            continue;
        }
        let frame = one(core, event.data).await?;
        if carrier::answers(&frame, id) {
            return Ok(frame);
        }
        inbound::receive(core, frame, Came::With(id));
    }
    Err(SessionError::Ended("the stream ended before the answer came".into()))
}

/// What a status other than success means: the JSON-RPC error it carries, or itself.
pub(crate) async fn refused(
    core: &Core,
    link: &HttpLink,
    id: &str,
    reply: Reply,
) -> Result<Frame, SessionError> {
    let status = reply.status;
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Err(link.refused(reply).await);
    }
    let body = reply.bytes(carrier::SMALL).await?;
    let answer = Frame::parse(body.clone(), &core.limits).ok();
    let own = |frame: &Frame| frame.id().is_some_and(|own| own.raw() == id);
    let answer = answer.filter(|frame| frame.kind() == Kind::Failure);
    match answer {
        Some(frame) if own(&frame) => Ok(frame),
        Some(frame) => adopt(&frame, id).ok_or_else(carrier::another_id),
        None => Err(carrier::unexpected(status, &body)),
    }
}

/// An error without an id, which is legal, is the answer to what was posted.
pub(crate) fn adopt(frame: &Frame, id: &str) -> Option<Frame> {
    let error = frame.error().filter(|_| frame.id().is_none())?;
    let whole = [b"{\"jsonrpc\":\"2.0\",\"id\":", id.as_bytes(), b",\"error\":", error, b"}"];
    Frame::parse(whole.concat().into(), &toolgate_wire::Limits::WIDEST).ok()
}
