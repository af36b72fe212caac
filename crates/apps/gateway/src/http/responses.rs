//! Builds the HTTP responses, including those for rejected requests.

use std::borrow::Cow;

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use toolgate_wire::{OwnedRequestId, WireError, build, code};

use super::headers::{EVENT_STREAM, JSON};
use super::response_body::{ResponseBody, ResponsePieces};
use super::stream::EventStreamBody;
use crate::modern::RequestError;
use crate::session::{ResponseContent, RpcResponse};

/// Tells proxies to forward events without buffering.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Why the server answers a request with an HTTP error.
#[derive(Debug)]
pub(crate) struct HttpRejection {
    status: StatusCode,
    code: i32,
    message: Cow<'static, str>,
    id: Option<OwnedRequestId>,
}

impl HttpRejection {
    /// Rejects a request before its message is parsed.
    pub(crate) fn new(status: StatusCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, code: code::INVALID_REQUEST, message: message.into(), id: None }
    }

    /// Rejects a message that cannot be parsed.
    pub(crate) fn parse_error(error: &WireError) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            code: error.code(),
            message: error.message().into(),
            id: error.id().cloned(),
        }
    }

    /// Rejects a message that exceeds the limit. `id` comes from the beginning of the message.
    pub(crate) fn too_large(limit: usize, id: Option<OwnedRequestId>) -> Self {
        Self {
            status: StatusCode::PAYLOAD_TOO_LARGE,
            code: code::INVALID_REQUEST,
            message: format!("message is larger than the limit of {limit} bytes").into(),
            id,
        }
    }

    /// Rejects a message that cannot be stored. `id` comes from the beginning of the message.
    pub(crate) fn storage_failed(reason: &str, id: Option<OwnedRequestId>) -> Self {
        Self {
            status: StatusCode::INSUFFICIENT_STORAGE,
            code: code::INTERNAL_ERROR,
            message: format!("cannot store the message: {reason}").into(),
            id,
        }
    }

    #[cfg(test)]
    pub(crate) fn status(&self) -> u16 {
        self.status.as_u16()
    }

    pub(crate) fn into_response(self, allow: &'static str) -> Response<ResponseBody> {
        let id = self.id.as_ref().map(OwnedRequestId::raw);
        let error = build::error_response(id, self.code, &self.message, None);
        let mut response = with_status(json(RpcResponse::from_message(error)), self.status);
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
            // The rest of such a body is not read.
            StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT => {
                headers.insert(CONNECTION, HeaderValue::from_static("close"));
            }
            _ => {}
        }
        response
    }
}

/// Returns a response with status 200.
pub(crate) fn json(reply: RpcResponse) -> Response<ResponseBody> {
    let mut response = Response::new(match reply.into_parts() {
        ResponseContent::Small(parts) => ResponseBody::Answer(ResponsePieces::new(parts)),
        ResponseContent::Large(refill) => ResponseBody::large(refill),
    });
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// Returns a response with the HTTP status of its error code.
pub(crate) fn json_with_status(reply: RpcResponse) -> Response<ResponseBody> {
    let status = status_of(&reply);
    with_status(json(reply), status)
}

/// Returns the HTTP status of an answer in 2026-07-28. In earlier revisions the status does not
/// depend on the answer.
pub(crate) fn status_of(reply: &RpcResponse) -> StatusCode {
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

/// Returns the response to a request that is invalid as a message.
pub(crate) fn bad_request(error: RequestError) -> Response<ResponseBody> {
    with_status(json(error.into_response()), StatusCode::BAD_REQUEST)
}

/// Returns a JSON document that is not an MCP message.
pub(crate) fn json_document(body: String) -> Response<ResponseBody> {
    json(RpcResponse::from_message(Bytes::from(body)))
}

/// Returns an event stream.
pub(crate) fn event_stream(events: EventStreamBody) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::Events(Box::new(events)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, EVENT_STREAM);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response
}

/// Returns a response without a body.
pub(crate) fn empty(status: StatusCode) -> Response<ResponseBody> {
    with_status(Response::new(ResponseBody::Empty), status)
}

pub(crate) fn with_status(
    mut response: Response<ResponseBody>,
    status: StatusCode,
) -> Response<ResponseBody> {
    *response.status_mut() = status;
    response
}
