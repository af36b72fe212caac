//! Messages of our own, written compactly.
//!
//! Raw parts (`params`, `result`, `data`, ids) must be valid JSON; they are copied as they are.

use bytes::Bytes;

use crate::string;

/// A request. `id` is raw JSON: [`Id::raw`](crate::Id::raw), or a number's digits.
pub fn request(id: &str, method: &str, params: Option<&[u8]>) -> Bytes {
    let mut message = Draft::new();
    message.member("id", id.as_bytes());
    message.call(method, params);
    message.finish()
}

/// A notification.
pub fn notification(method: &str, params: Option<&[u8]>) -> Bytes {
    let mut message = Draft::new();
    message.call(method, params);
    message.finish()
}

/// A response with a result. `id` is raw JSON, spelled as in the request.
pub fn response(id: &str, result: &[u8]) -> Bytes {
    let mut message = Draft::new();
    message.member("id", id.as_bytes());
    message.member("result", result);
    message.finish()
}

/// A response with an error; without an id where the request's could not be read. JSON-RPC wants a
/// null there, which no revision of MCP allows.
pub fn failure(id: Option<&str>, code: i32, message: &str, data: Option<&[u8]>) -> Bytes {
    let mut draft = Draft::new();
    if let Some(id) = id {
        draft.member("id", id.as_bytes());
    }
    draft.member("error", &error(code, message, data));
    draft.finish()
}

/// The error object of a failure.
pub fn error(code: i32, message: &str, data: Option<&[u8]>) -> Vec<u8> {
    let mut object = format!("{{\"code\":{code},\"message\":{}", string::encode(message));
    object.push_str(if data.is_some() { ",\"data\":" } else { "" });
    [object.as_bytes(), data.unwrap_or_default(), b"}"].concat()
}

/// A batch of messages.
pub fn batch(messages: &[Bytes]) -> Bytes {
    [b"[", messages.join(&b","[..]).as_slice(), b"]"].concat().into()
}

/// A message being written.
struct Draft {
    bytes: Vec<u8>,
}

impl Draft {
    fn new() -> Self {
        Self { bytes: b"{\"jsonrpc\":\"2.0\"".to_vec() }
    }

    /// Adds a member whose key needs no escaping.
    fn member(&mut self, key: &str, json: &[u8]) {
        for part in [b",\"", key.as_bytes(), b"\":", json] {
            self.bytes.extend_from_slice(part);
        }
    }

    fn call(&mut self, method: &str, params: Option<&[u8]>) {
        self.member("method", string::encode(method).as_bytes());
        if let Some(params) = params {
            self.member("params", params);
        }
    }

    fn finish(mut self) -> Bytes {
        self.bytes.push(b'}');
        self.bytes.into()
    }
}
