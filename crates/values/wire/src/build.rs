//! Builds the gateway's own messages, compactly encoded.
//!
//! Raw parts (`params`, `result`, `data`, ids) must be valid JSON; they are copied unchanged.

use bytes::Bytes;

use crate::string;

/// Builds a request. `id` is raw JSON: [`RequestId::raw`](crate::RequestId::raw), or the digits of
/// a number.
pub fn request(id: &str, method: &str, params: Option<&[u8]>) -> Bytes {
    let mut message = MessageBuilder::new();
    message.add_member("id", id.as_bytes());
    message.add_call(method, params);
    message.finish()
}

/// Builds a notification.
pub fn notification(method: &str, params: Option<&[u8]>) -> Bytes {
    let mut message = MessageBuilder::new();
    message.add_call(method, params);
    message.finish()
}

/// Builds a response with a result. `id` is raw JSON, spelled as in the request.
pub fn response(id: &str, result: &[u8]) -> Bytes {
    let mut message = MessageBuilder::new();
    message.add_member("id", id.as_bytes());
    message.add_member("result", result);
    message.finish()
}

/// Builds a response with an error. It has no id if the id of the request could not be read:
/// JSON-RPC demands null in that case, but no revision of MCP allows it.
pub fn error_response(id: Option<&str>, code: i32, message: &str, data: Option<&[u8]>) -> Bytes {
    let mut draft = MessageBuilder::new();
    if let Some(id) = id {
        draft.add_member("id", id.as_bytes());
    }
    draft.add_member("error", &error_object(code, message, data));
    draft.finish()
}

/// Builds the error object of a failure response.
pub fn error_object(code: i32, message: &str, data: Option<&[u8]>) -> Vec<u8> {
    let mut object = format!("{{\"code\":{code},\"message\":{}", string::encode(message));
    object.push_str(if data.is_some() { ",\"data\":" } else { "" });
    [object.as_bytes(), data.unwrap_or_default(), b"}"].concat()
}

/// Builds a batch of messages.
pub fn batch(messages: &[Bytes]) -> Bytes {
    [b"[", messages.join(&b","[..]).as_slice(), b"]"].concat().into()
}

/// A JSON-RPC message under construction.
struct MessageBuilder {
    bytes: Vec<u8>,
}

impl MessageBuilder {
    fn new() -> Self {
        Self { bytes: b"{\"jsonrpc\":\"2.0\"".to_vec() }
    }

    /// Adds a member whose key needs no escaping.
    fn add_member(&mut self, key: &str, json: &[u8]) {
        for part in [b",\"", key.as_bytes(), b"\":", json] {
            self.bytes.extend_from_slice(part);
        }
    }

    fn add_call(&mut self, method: &str, params: Option<&[u8]>) {
        self.add_member("method", string::encode(method).as_bytes());
        if let Some(params) = params {
            self.add_member("params", params);
        }
    }

    fn finish(mut self) -> Bytes {
        self.bytes.push(b'}');
        self.bytes.into()
    }
}
