//! The responses there are, and the one place where a refusal becomes one.

use std::borrow::Cow;

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use toolgate_wire::{OwnedId, WireError, build, code};

use super::headers::{EVENT_STREAM, JSON};
use super::payload::{Payload, Pieces};
use super::stream::Events;
use crate::modern::Fault;
use crate::session::{Reply, Written};

/// Tells proxies to pass events on as they come.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Why a request gets no answer of the protocol.
#[derive(Debug)]
pub(crate) struct Refused {
    status: StatusCode,
    code: i32,
    message: Cow<'static, str>,
    id: Option<OwnedId>,
}

impl Refused {
    /// A refusal before the message was looked at.
    pub(crate) fn new(status: StatusCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, code: code::INVALID_REQUEST, message: message.into(), id: None }
    }

    /// A message that could not be read.
    pub(crate) fn unreadable(error: &WireError) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            code: error.code(),
            message: error.message().into(),
            id: error.id().cloned(),
        }
    }

    /// A message that is too large to be read; its beginning may say whose it is.
    pub(crate) fn too_large(limit: usize, id: Option<OwnedId>) -> Self {
        Self {
            status: StatusCode::PAYLOAD_TOO_LARGE,
            code: code::INVALID_REQUEST,
            message: format!("larger than the limit: more than {limit} bytes").into(),
            id,
        }
    }

    /// A message there was no room for; its beginning may say whose it is.
    pub(crate) fn unkept(reason: &str, id: Option<OwnedId>) -> Self {
        Self {
            status: StatusCode::INSUFFICIENT_STORAGE,
            code: code::INTERNAL_ERROR,
            message: format!("the message could not be kept: {reason}").into(),
            id,
        }
    }

    #[cfg(test)]
    pub(crate) fn status(&self) -> u16 {
        self.status.as_u16()
    }

    pub(crate) fn into_response(self, allow: &'static str) -> Response<Payload> {
        let id = self.id.as_ref().map(OwnedId::raw);
        let error = build::failure(id, self.code, &self.message, None);
        let mut response = with_status(json(Reply::whole(error)), self.status);
        let headers = response.headers_mut();
        match self.status {
            StatusCode::METHOD_NOT_ALLOWED => {
                headers.insert(ALLOW, HeaderValue::from_static(allow));
            }
            StatusCode::UNAUTHORIZED => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => {
                headers.insert(RETRY_AFTER, HeaderValue::from_static("5"));
            }
            // The rest of such a body is not worth reading.
            StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT => {
                headers.insert(CONNECTION, HeaderValue::from_static("close"));
            }
            _ => {}
        }
        response
    }
}

/// An answer as it is.
pub(crate) fn json(reply: Reply) -> Response<Payload> {
    let mut response = Response::new(match reply.into_parts() {
        Written::Small(parts) => Payload::Answer(Pieces::new(parts)),
        Written::Large(refill) => Payload::large(refill),
    });
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// An answer as it is, with the status its code has.
pub(crate) fn telling(reply: Reply) -> Response<Payload> {
    let status = status(&reply);
    with_status(json(reply), status)
}

/// The status an answer has in 2026-07-28. In earlier revisions a status says nothing of the
/// answer.
pub(crate) fn status(reply: &Reply) -> StatusCode {
    match reply.code() {
        Some(code::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        Some(
            code::PARSE_ERROR
            | code::HEADER_MISMATCH
            | code::MISSING_CLIENT_CAPABILITY
            | code::UNSUPPORTED_PROTOCOL_VERSION,
        ) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

/// A message that was refused before it was looked at what it wants.
pub(crate) fn faulty(fault: Fault) -> Response<Payload> {
    with_status(json(fault.into_reply()), StatusCode::BAD_REQUEST)
}

/// Bytes of JSON that are no answer of the protocol.
pub(crate) fn document(body: String) -> Response<Payload> {
    json(Reply::whole(Bytes::from(body)))
}

/// An event stream.
pub(crate) fn events(events: Events) -> Response<Payload> {
    let mut response = Response::new(Payload::Events(Box::new(events)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, EVENT_STREAM);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response
}

/// A status and nothing else.
pub(crate) fn bare(status: StatusCode) -> Response<Payload> {
    with_status(Response::new(Payload::Empty), status)
}

pub(crate) fn with_status(
    mut response: Response<Payload>,
    status: StatusCode,
) -> Response<Payload> {
    *response.status_mut() = status;
    response
}
