//! A response to the client, in pieces.
//!
//! Prepared lists and large results are shared bytes. Adding the client's id splits them into three
//! pieces instead of copying them. Transports that need a single line join the pieces. Values that
//! are stored in a file are read while they are sent.

use bytes::Bytes;
use toolgate_host::GateError;
use toolgate_transport::chunked_message::{ChunkedMessage, OutgoingMessage};
use toolgate_wire::view::RpcError;
use toolgate_wire::{Frame, OwnedRequestId, build, code, to_single_line};

/// The response to one request, or to a batch.
#[derive(Debug, Clone)]
pub(crate) struct RpcResponse {
    pub(crate) content: ResponseContent,
    /// The error code, if it is an error response to a request.
    pub(crate) code: Option<i32>,
}

/// The content of a response.
#[derive(Debug, Clone)]
pub(crate) enum ResponseContent {
    /// The pieces in order. Some may be empty.
    Small([Bytes; 3]),
    /// Part of the content is in a file.
    Large(Box<ChunkedMessage>),
}

impl RpcResponse {
    fn new(parts: [Bytes; 3], code: Option<i32>) -> Self {
        Self { content: ResponseContent::Small(parts), code }
    }

    /// Creates a response from the bytes of a complete message.
    pub(crate) fn from_message(message: Bytes) -> Self {
        Self::new([message, Bytes::new(), Bytes::new()], None)
    }

    /// Creates a response with a small result.
    pub(crate) fn result(id: &OwnedRequestId, result: &[u8]) -> Self {
        Self::from_message(build::response(id.raw(), result))
    }

    /// Creates a response with a prepared result that many clients share.
    pub(crate) fn shared_result(id: &OwnedRequestId, result: Bytes) -> Self {
        let head = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":", id.raw());
        Self::new([head.into(), result, Bytes::from_static(b"}")], None)
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
        let code = answer.error().and_then(|error| RpcError::of(error)?.code?.try_into().ok());
        Self::new(parts, code)
    }

    /// Creates a response that is not entirely in memory.
    fn large(message: ChunkedMessage) -> Self {
        Self { content: ResponseContent::Large(Box::new(message)), code: None }
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
                OutgoingMessage::Small(line) => {
                    message.push(line.clone(), None);
                    lines.push(line);
                }
                OutgoingMessage::Large(line) => {
                    any_large = true;
                    message.append(line);
                }
            }
        }
        message.push(Bytes::from_static(b"]"), None);
        if any_large { Self::large(message) } else { Self::from_message(build::batch(&lines)) }
    }

    fn error(id: Option<&OwnedRequestId>, code: i32, message: &str, data: Option<&[u8]>) -> Self {
        let id = id.map(OwnedRequestId::raw);
        Self::from_message(build::error_response(id, code, message, data))
    }

    /// Creates an error response from an error of the gate.
    pub(crate) fn from_gate_error(refusal: &GateError, id: &OwnedRequestId) -> Self {
        Self { code: Some(refusal.rpc_code), ..Self::rejected(Some(id), refusal) }
    }

    /// Creates an error response.
    pub(crate) fn failure(id: &OwnedRequestId, code: i32, message: &str) -> Self {
        Self { code: Some(code), ..Self::error(Some(id), code, message, None) }
    }

    /// Creates the error response to a message without an id that is not valid.
    pub(crate) fn invalid(message: &str) -> Self {
        Self::error(None, code::INVALID_REQUEST, message, None)
    }

    /// Creates the error response to a message that is rejected before it is dispatched. Its status
    /// over HTTP does not depend on the code.
    pub(crate) fn rejected(id: Option<&OwnedRequestId>, error: &GateError) -> Self {
        Self::error(id, error.rpc_code, &error.text(), error.client_data().as_deref())
    }

    /// Returns the response as one line.
    pub(crate) fn into_line(self) -> OutgoingMessage {
        let parts = match self.content {
            ResponseContent::Small(parts) => parts,
            ResponseContent::Large(message) => {
                return OutgoingMessage::Large(message.without_line_breaks());
            }
        };
        let [head, middle, tail] = &parts;
        if middle.is_empty() && tail.is_empty() {
            return to_single_line(head).into();
        }
        to_single_line(&[head.as_ref(), middle, tail].concat().into()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgate_wire::{MessageLimits, RequestId};

    fn id(raw: &'static str) -> OwnedRequestId {
        RequestId::from_raw(raw.as_bytes()).unwrap().to_owned()
    }

    fn line(reply: RpcResponse) -> Bytes {
        match reply.into_line() {
            OutgoingMessage::Small(line) => line,
            OutgoingMessage::Large(_) => panic!("it is small"),
        }
    }

    #[test]
    fn a_prepared_list_is_framed_without_a_copy() {
        let list = Bytes::from_static(br#"{"tools":[]}"#);
        let reply = RpcResponse::shared_result(&id("\"a\""), list.clone());
        let ResponseContent::Small([_, middle, _]) = &reply.content else { panic!("it is small") };
        assert_eq!(middle.as_ptr(), list.as_ptr());
        assert_eq!(line(reply), r#"{"jsonrpc":"2.0","id":"a","result":{"tools":[]}}"#);
    }

    #[test]
    fn an_answer_keeps_its_spelling_under_the_clients_id() {
        let bytes = Bytes::from_static(
            b"{\"result\": {\"n\": 1.50, \"id\": 4},\n \"id\": 77, \"jsonrpc\": \"2.0\"}",
        );
        let answer = Frame::parse(bytes, &MessageLimits::default()).unwrap();
        assert_eq!(
            line(RpcResponse::from_answer(&answer, &id("\"x\""))),
            "{\"result\": {\"n\": 1.50, \"id\": 4},  \"id\": \"x\", \"jsonrpc\": \"2.0\"}"
        );
    }
}
