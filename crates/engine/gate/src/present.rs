//! Step: translates a server's answer for the caller.

use bytes::Bytes;
use toolgate_bridge::{self as bridge, ResponseTranslation};
use toolgate_fleet::Pool;
use toolgate_model::{CapabilityId, ErrorCode};
use toolgate_wire::{Frame, MessageKind, MessageLimits, Revision, build};

use crate::profile_view::ProfileView;
use crate::{Caller, GateError, uris};

/// The request that an answer belongs to, with its caller and server.
pub(crate) struct ResponseContext<'a> {
    pub(crate) view: &'a ProfileView,
    pub(crate) caller: &'a Caller,
    pub(crate) pool: &'a Pool,
    /// The method of the request.
    pub(crate) method: &'a str,
    /// The capability the request named, if it is one of the server.
    pub(crate) id: Option<&'a CapabilityId>,
}

impl ResponseContext<'_> {
    /// Translates an answer to the caller's revision. One that already has the right form is
    /// returned unchanged.
    pub(crate) fn present(&self, answer: Frame) -> Frame {
        let answer = uris::expose_uris(self.view, self.pool.server(), answer);
        let to = self.caller.revision;
        // The catalog belongs to the connection that answered and is read without a lock.
        let from = self.pool.catalog().map_or(to, |catalog| catalog.protocol);
        let succeeded = answer.kind() == MessageKind::Response;
        if from == to && succeeded && !self.pool.is_per_caller() {
            return answer;
        }
        let passage = ResponseTranslation { method: self.method, from, to };
        if !succeeded {
            return bridge::translate_error(answer, &passage);
        }
        let tool = || self.view.definition(self.id?).map(|tool| &tool[..]);
        let answer = bridge::translate_result(answer, &passage, tool());
        match self.pool.is_per_caller() {
            true => bridge::mark_private(answer, &passage), // not to be cached for other callers
            false => answer,
        }
    }
}

/// Parses a message that the gate wrote itself.
pub(crate) fn own_frame(message: Bytes) -> Result<Frame, GateError> {
    Frame::parse(message, &MessageLimits::MAX)
        .map_err(|error| GateError::new(ErrorCode::CallBadAnswer, error.to_string()))
}

/// Returns an error in place of an answer.
pub(crate) fn failure_instead(answer: &Frame, code: i32, message: &str) -> Frame {
    let id = answer.id().map(|id| id.raw().to_owned());
    let failure = build::error_response(id.as_deref(), code, message, None);
    own_frame(failure).unwrap_or_else(|_| answer.clone())
}

/// Returns a response that the gate wrote itself. Its id is replaced later.
pub(crate) fn own_response(result: &[u8]) -> Result<Frame, GateError> {
    own_frame(build::response("0", result))
}

/// Returns the gate's own result of a method, in the caller's revision.
pub(crate) fn own_result(method: &str, result: &[u8], to: Revision) -> Result<Frame, GateError> {
    let translation = ResponseTranslation { method, from: Revision::LATEST_LEGACY, to };
    Ok(bridge::translate_result(own_response(result)?, &translation, None))
}
