//! Reading JSON-RPC messages without losing how they were spelled.
//!
//! Ids and params keep the sender's bytes; nothing is decoded until a server asks for it, so
//! numbers no machine type can hold do not stop a message.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::outcome::Fault;

/// What one line or one POST body holds.
#[derive(Debug)]
pub enum Frame {
    /// A single message.
    One(Message),
    /// An array of messages, allowed in 2025-03-26 only.
    Batch(Vec<Message>),
}

/// One JSON-RPC message.
#[derive(Debug)]
pub enum Message {
    /// Expects an answer.
    Request(Request),
    /// Expects none.
    Notification(Notification),
    /// Answers something we asked.
    Response(Response),
}

/// A request of the other side.
#[derive(Debug)]
pub struct Request {
    /// Its id, to be given back as it came.
    pub id: Id,
    /// The method's decoded name.
    pub method: String,
    /// The parameters.
    pub params: Params,
}

/// A notification of the other side.
#[derive(Debug)]
pub struct Notification {
    /// The method's decoded name.
    pub method: String,
    /// The parameters.
    pub params: Params,
}

/// An answer of the other side, result or error, as it was written.
#[derive(Debug)]
pub struct Response {
    /// The id of our request.
    pub id: Id,
    /// The text of `result`, or of `error`.
    pub outcome: Result<String, String>,
}

/// A request id in its sender's spelling.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Id(pub String);

/// Parameters in their sender's spelling.
#[derive(Debug, Clone, Default)]
pub struct Params(String);

impl Params {
    /// The bytes as they came; empty when there were none.
    pub fn raw(&self) -> &str {
        &self.0
    }

    /// The decoded parameters; an object even when there were none.
    pub fn value(&self) -> Result<Value, Fault> {
        if self.0.is_empty() {
            return Ok(Value::Object(serde_json::Map::new()));
        }
        serde_json::from_str(&self.0).map_err(|error| Fault::invalid_params(error.to_string()))
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl Frame {
    /// Reads what one line or one POST body holds.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        if !text.trim_start().starts_with('[') {
            return parse_one(text).map(Self::One);
        }
        let parts: Vec<&RawValue> = serde_json::from_str(text).map_err(Fault::parse_error)?;
        if parts.is_empty() {
            return Err(Fault::invalid_request("an empty batch"));
        }
        parts
            .into_iter()
            .map(|part| parse_one(part.get()))
            .collect::<Result<_, _>>()
            .map(Self::Batch)
    }
}

fn parse_one(text: &str) -> Result<Message, Fault> {
    let envelope: Envelope<'_> = serde_json::from_str(text).map_err(Fault::parse_error)?;
    let id = envelope.id.map(|id| Id(id.get().to_owned()));
    let params = Params(envelope.params.map(|params| params.get().to_owned()).unwrap_or_default());
    match (envelope.method, id, envelope.result, envelope.error) {
        (Some(method), Some(id), None, None) => {
            Ok(Message::Request(Request { id, method, params }))
        }
        (Some(method), None, None, None) => {
            Ok(Message::Notification(Notification { method, params }))
        }
        (None, Some(id), Some(result), None) => {
            Ok(Message::Response(Response { id, outcome: Ok(result.get().to_owned()) }))
        }
        (None, Some(id), None, Some(error)) => {
            Ok(Message::Response(Response { id, outcome: Err(error.get().to_owned()) }))
        }
        _ => Err(Fault::invalid_request("neither request, notification nor response")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beyond_any_type_pass_in_their_own_spelling() {
        let text = r#"{"jsonrpc":"2.0","id":1.0,"method":"m","params":{"n":1e400, "m":-0}}"#;
        let Ok(Frame::One(Message::Request(request))) = Frame::parse(text) else {
            panic!("a request");
        };
        assert_eq!(request.id, Id("1.0".to_owned()));
        assert_eq!(request.params.raw(), r#"{"n":1e400, "m":-0}"#);
    }

    #[test]
    fn a_message_with_both_result_and_error_is_refused() {
        assert!(Frame::parse(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#).is_err());
    }

    #[test]
    fn a_batch_keeps_its_order() {
        let text = r#"[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","id":"x","method":"b"}]"#;
        let Ok(Frame::Batch(messages)) = Frame::parse(text) else { panic!("a batch") };
        assert!(matches!(messages[0], Message::Notification(_)));
        assert!(matches!(messages[1], Message::Request(_)));
    }
}
