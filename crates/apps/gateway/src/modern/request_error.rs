//! The errors of requests that are rejected before they are dispatched.

use std::borrow::Cow;

use serde_json::json;
use toolgate_wire::{Frame, OwnedRequestId, Revision, build, code};

use crate::gate_service::GateError;
use crate::session::RpcResponse;

/// Why a message is rejected. Over HTTP the status is always 400.
#[derive(Debug)]
pub(crate) struct RequestError {
    code: i32,
    message: Cow<'static, str>,
    data: Option<String>,
    id: Option<OwnedRequestId>,
}

impl RequestError {
    fn new(frame: &Frame, code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        let id = frame.id().map(|id| id.to_owned());
        Self { code, message: message.into(), data: None, id }
    }

    /// The envelope lacks a member, or a member is malformed.
    pub(crate) fn invalid_envelope(frame: &Frame, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(frame, code::INVALID_PARAMS, message)
    }

    /// A header is missing, repeated or unreadable, or does not match the body.
    pub(crate) fn header_mismatch(frame: &Frame, header: &str) -> Self {
        let message = format!("the {header} header does not match the body");
        Self::new(frame, code::HEADER_MISMATCH, message)
    }

    /// The gateway does not support the revision.
    pub(crate) fn unsupported_version(frame: &Frame, requested: &str, supported: Revision) -> Self {
        let data = json!({ "supported": [supported.as_str()], "requested": requested });
        Self {
            data: Some(data.to_string()),
            ..Self::new(
                frame,
                code::UNSUPPORTED_PROTOCOL_VERSION,
                format!("Unsupported protocol version: use {supported}"),
            )
        }
    }

    /// The message is not valid in this revision.
    pub(crate) fn invalid_request(id: Option<OwnedRequestId>, message: &'static str) -> Self {
        Self { code: code::INVALID_REQUEST, message: message.into(), data: None, id }
    }

    /// The gate rejects the client.
    pub(crate) fn from_gate_error(id: Option<OwnedRequestId>, refusal: GateError) -> Self {
        let GateError { code, message, data, .. } = refusal;
        let data = data.map(|data| String::from_utf8_lossy(&data).into_owned());
        Self { code, message: message.into(), data, id }
    }

    /// Returns the JSON-RPC error response.
    pub(crate) fn into_response(self) -> RpcResponse {
        let id = self.id.as_ref().map(OwnedRequestId::raw);
        let data = self.data.as_deref().map(str::as_bytes);
        RpcResponse::from_message(build::error_response(id, self.code, &self.message, data))
    }

    #[cfg(test)]
    pub(crate) fn code(&self) -> i32 {
        self.code
    }
}
