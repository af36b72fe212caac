//! A response to the client, in pieces.
//!
//! Prepared lists and large results are shared bytes. Adding the client's id splits them into three
//! pieces instead of copying them. Transports that need a single line join the pieces. Values that
//! are stored in a file are read while they are sent.

use bytes::Bytes;
use toolgate_transport::chunked_message::ChunkedMessage;
use toolgate_wire::view::RpcError;
use toolgate_wire::{Frame, OwnedRequestId, WireError, build, code, to_single_line};

use crate::gate_service::GateError;

/// The response to one request, or to a batch.
#[derive(Debug, Clone)]
pub(crate) struct RpcResponse {
    parts: [Bytes; 3],
    /// The whole response if part of it is in a file. Then `parts` are empty.
    large: Option<Box<ChunkedMessage>>,
    /// The error code, if it is an error response to a request.
    code: Option<i32>,
}

/// The content of a response, ready to send.
pub(crate) enum ResponseContent<T> {
    /// The content is in memory.
    Small(T),
    /// Part of the content is in a file.
    Large(ChunkedMessage),
}

impl RpcResponse {
    /// Creates a response from the bytes of a complete message.
    pub(crate) fn from_message(message: Bytes) -> Self {
        Self { parts: [message, Bytes::new(), Bytes::new()], large: None, code: None }
    }

    /// Creates a response with a small result.
    pub(crate) fn result(id: &OwnedRequestId, result: &[u8]) -> Self {
        Self::from_message(build::response(id.raw(), result))
    }

    /// Creates a response with a prepared result that many clients share.
    pub(crate) fn shared_result(id: &OwnedRequestId, result: Bytes) -> Self {
        let head = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":", id.raw());
        let parts = [head.into(), result, Bytes::from_static(b"}")];
        Self { parts, large: None, code: None }
    }

    /// Creates a response from a server's answer, with the client's id.
    pub(crate) fn from_answer(answer: &Frame, id: &OwnedRequestId) -> Self {
        let Some(span) = answer.id_span() else {
            return Self::failure(id, code::INTERNAL_ERROR, "the server's answer has no id");
        };
        let bytes = answer.bytes();
        let raw_id = Bytes::copy_from_slice(id.raw().as_bytes());
        let parts = [bytes.slice(..span.start()), raw_id, bytes.slice(span.end()..)];
        if let Some(detached) = answer.detached_values() {
            let [head, id, tail] = parts;
            let mut message = ChunkedMessage::from_skeleton(head, detached.clone());
            message.push(id, None);
            message.push(tail, Some(detached));
            return Self::large(message);
        }
        Self { parts, large: None, code: answer.error().and_then(error_code) }
    }

    /// Creates a response that is not entirely in memory.
    fn large(message: ChunkedMessage) -> Self {
        Self { parts: Default::default(), large: Some(Box::new(message)), code: None }
    }

    /// Joins the responses to a batch.
    pub(crate) fn batch(replies: Vec<Self>) -> Self {
        let mut lines = Vec::new();
        let mut message = ChunkedMessage::default();
        let mut any_large = false;
        for reply in replies {
            let before: &'static [u8] = if message.has_no_parts() { b"[" } else { b"," };
            message.push(Bytes::from_static(before), None);
            match reply.into_line() {
                ResponseContent::Small(line) => {
                    message.push(line.clone(), None);
                    lines.push(line);
                }
                ResponseContent::Large(line) => {
                    any_large = true;
                    message.append(line);
                }
            }
        }
        message.push(Bytes::from_static(b"]"), None);
        if any_large { Self::large(message) } else { Self::from_message(build::batch(&lines)) }
    }

    /// Creates an error response from an error of the gate.
    pub(crate) fn from_gate_error(refusal: &GateError, id: &OwnedRequestId) -> Self {
        let GateError { code, message, data } = refusal;
        let failure = build::error_response(Some(id.raw()), *code, message, data.as_deref());
        Self { code: Some(*code), ..Self::from_message(failure) }
    }

    /// Creates an error response.
    pub(crate) fn failure(id: &OwnedRequestId, code: i32, message: &str) -> Self {
        let failure = build::error_response(Some(id.raw()), code, message, None);
        Self { code: Some(code), ..Self::from_message(failure) }
    }

    /// Creates the error response to a message that cannot be parsed.
    pub(crate) fn parse_error(error: &WireError) -> Self {
        let id = error.id().map(OwnedRequestId::raw);
        Self::from_message(build::error_response(id, error.code(), &error.message(), None))
    }

    /// Returns the error code, or `None` for a result.
    pub(crate) fn code(&self) -> Option<i32> {
        self.code
    }

    /// Returns the pieces in order. Some may be empty.
    pub(crate) fn into_parts(self) -> ResponseContent<[Bytes; 3]> {
        match self.large {
            None => ResponseContent::Small(self.parts),
            Some(message) => ResponseContent::Large(*message),
        }
    }

    /// Returns the response as one piece without line breaks.
    pub(crate) fn into_line(self) -> ResponseContent<Bytes> {
        if let Some(message) = self.large {
            return ResponseContent::Large(message.without_line_breaks());
        }
        let [head, middle, tail] = &self.parts;
        if middle.is_empty() && tail.is_empty() {
            return ResponseContent::Small(to_single_line(head));
        }
        ResponseContent::Small(to_single_line(&[head.as_ref(), middle, tail].concat().into()))
    }
}

fn error_code(error: &[u8]) -> Option<i32> {
    RpcError::of(error)?.code?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgate_wire::MessageLimits;

    fn small<T>(written: ResponseContent<T>) -> T {
        match written {
            ResponseContent::Small(small) => small,
            ResponseContent::Large(_) => panic!("it is small"),
        }
    }

    #[test]
    fn a_prepared_list_is_framed_without_a_copy() {
        let list = Bytes::from_static(br#"{"tools":[]}"#);
        let reply = RpcResponse::shared_result(&OwnedRequestId::from_text("a"), list.clone());
        let [_, middle, _] = small(reply.clone().into_parts());
        assert_eq!(middle.as_ptr(), list.as_ptr());
        let line = r#"{"jsonrpc":"2.0","id":"a","result":{"tools":[]}}"#;
        assert_eq!(small(reply.into_line()), line);
    }

    #[test]
    fn an_answer_keeps_its_spelling_under_the_clients_id() {
        let bytes = Bytes::from_static(
            b"{\"result\": {\"n\": 1.50, \"id\": 4},\n \"id\": 77, \"jsonrpc\": \"2.0\"}",
        );
        let answer = Frame::parse(bytes, &MessageLimits::default()).unwrap();
        assert_eq!(
            small(RpcResponse::from_answer(&answer, &OwnedRequestId::from_text("x")).into_line()),
            "{\"result\": {\"n\": 1.50, \"id\": 4},  \"id\": \"x\", \"jsonrpc\": \"2.0\"}"
        );
    }
}
