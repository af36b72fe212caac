//! The error responses of a modern server over HTTP.

use http::StatusCode;
use toolgate_transport::http::HttpResponse;
use toolgate_wire::{Frame, MessageKind};

use crate::SessionError;
use crate::core::SessionCore;
use crate::http::{self as carrier, HttpTransport};

/// Reads a response with an error status: returns the JSON-RPC error it carries, or fails with the
/// status.
pub(crate) async fn read_error_response(
    core: &SessionCore,
    link: &HttpTransport,
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
