//! Builds the HTTP responses, including those for rejected requests.

use http::header::{ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use toolgate_wire::code;

use super::headers::{EVENT_STREAM, JSON};
use super::response_body::ResponseBody;
use super::stream::EventStreamBody;
use crate::exchange::{ResponseContent, RpcResponse};
use crate::rejection::Rejection;

/// Tells proxies to forward events without buffering.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Returns the response to a rejected request. `allow` are the methods that the path accepts.
pub(crate) fn rejected(rejection: &Rejection, allow: &'static str) -> Response<ResponseBody> {
    let mut response = with_status(json(rejection.to_response()), rejection.status);
    let header = match rejection.status {
        StatusCode::METHOD_NOT_ALLOWED => (ALLOW, allow),
        StatusCode::UNAUTHORIZED => (WWW_AUTHENTICATE, "Bearer"),
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => (RETRY_AFTER, "5"),
        // The rest of such a body is not read.
        StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT => (CONNECTION, "close"),
        _ => return response,
    };
    response.headers_mut().insert(header.0, HeaderValue::from_static(header.1));
    response
}

/// Returns a response with status 200.
pub(crate) fn json(reply: RpcResponse) -> Response<ResponseBody> {
    let mut response = Response::new(match reply.content {
        ResponseContent::Small(parts) => ResponseBody::Answer(parts),
        ResponseContent::Large(message) => {
            let left = message.total_len();
            ResponseBody::Large(message, left)
        }
    });
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// Returns the HTTP status of an answer in 2026-07-28. In earlier revisions the status does not
/// depend on the answer.
pub(crate) fn status_of(reply: &RpcResponse) -> StatusCode {
    match reply.code {
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
