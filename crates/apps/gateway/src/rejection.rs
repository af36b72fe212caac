//! Why a message is rejected before it is dispatched.

use http::StatusCode;
use serde_json::json;
use toolgate_host::GateError;
use toolgate_model::ErrorCode;
use toolgate_wire::{Frame, OwnedRequestId, Revision, WireError, code};

use crate::exchange::RpcResponse;

/// A rejected message: the JSON-RPC error, and the status over HTTP.
#[derive(Debug)]
pub(crate) struct Rejection {
    pub(crate) status: StatusCode,
    pub(crate) error: GateError,
    /// The id of the message, as far as it is known.
    id: Option<OwnedRequestId>,
}

impl Rejection {
    fn with_code(
        status: StatusCode,
        code: i32,
        message: impl Into<String>,
        id: Option<OwnedRequestId>,
    ) -> Self {
        let error = GateError::new(ErrorCode::GatewayRequest, message);
        Self { status, error: GateError { rpc_code: code, ..error }, id }
    }

    /// Rejects a message with this JSON-RPC code.
    pub(crate) fn of_frame(frame: &Frame, code: i32, message: impl Into<String>) -> Self {
        let id = frame.id().map(|id| id.to_owned());
        Self::with_code(StatusCode::BAD_REQUEST, code, message, id)
    }

    /// Rejects an HTTP request before its message is parsed.
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self::with_code(status, code::INVALID_REQUEST, message, None)
    }

    /// Rejects a message that is not valid in this revision.
    pub(crate) fn invalid_request(id: Option<OwnedRequestId>, message: &str) -> Self {
        Self::with_code(StatusCode::BAD_REQUEST, code::INVALID_REQUEST, message, id)
    }

    /// Rejects a message that cannot be parsed.
    pub(crate) fn parse_error(error: &WireError) -> Self {
        let (status, id) = (StatusCode::BAD_REQUEST, error.id().cloned());
        Self::with_code(status, error.code(), error.to_string(), id)
    }

    /// Rejects a message that exceeds the limit. `head` is its beginning, with the id.
    pub(crate) fn too_large(limit: usize, head: &[u8]) -> Self {
        let message = format!("message is larger than the limit of {limit} bytes");
        let status = StatusCode::PAYLOAD_TOO_LARGE;
        Self::with_code(status, code::INVALID_REQUEST, message, Frame::peek_id(head))
    }

    /// Rejects a message that cannot be stored. `head` is its beginning, with the id.
    pub(crate) fn storage_failed(reason: &str, head: &[u8]) -> Self {
        let message = format!("cannot store the message: {reason}");
        let status = StatusCode::INSUFFICIENT_STORAGE;
        Self::with_code(status, code::INTERNAL_ERROR, message, Frame::peek_id(head))
    }

    /// Rejects a header that is missing, repeated or unreadable, or does not match the body.
    pub(crate) fn header_mismatch(frame: &Frame, header: &str) -> Self {
        let message = format!("the {header} header does not match the body");
        Self::of_frame(frame, code::HEADER_MISMATCH, message)
    }

    /// Rejects a revision that the gateway does not support.
    pub(crate) fn unsupported_version(frame: &Frame, requested: &str, supported: Revision) -> Self {
        let message = format!("Unsupported protocol version: use {supported}");
        let mut rejection = Self::of_frame(frame, code::UNSUPPORTED_PROTOCOL_VERSION, message);
        let data = json!({ "supported": [supported.as_str()], "requested": requested });
        rejection.error.data = Some(data.to_string().into());
        rejection
    }

    /// Rejects a client that the gate refuses.
    pub(crate) fn refused_client(id: Option<OwnedRequestId>, error: GateError) -> Self {
        Self { status: StatusCode::BAD_REQUEST, error, id }
    }

    /// Returns the JSON-RPC error response.
    pub(crate) fn to_response(&self) -> RpcResponse {
        RpcResponse::rejected(self.id.as_ref(), &self.error)
    }
}
