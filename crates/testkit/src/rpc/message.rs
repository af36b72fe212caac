//! Parses JSON-RPC messages and keeps their spelling.
//!
//! Ids and params keep the sender's bytes and are decoded only when a server reads them, so numbers
//! that exceed every machine type do not break a message.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::outcome::TestRpcError;

/// The content of one line or one POST body.
#[derive(Debug)]
pub enum TestFrame {
    /// A single message.
    One(TestMessage),
    /// An array of messages, allowed in 2025-03-26 only.
    Batch(Vec<TestMessage>),
}

/// One JSON-RPC message.
#[derive(Debug)]
pub enum TestMessage {
    /// Expects an answer.
    Request(TestRequest),
    /// Expects none.
    Notification(TestNotification),
    /// Answers something we asked.
    Response(TestResponse),
}

/// A request from the client.
#[derive(Debug)]
pub struct TestRequest {
    /// Its id, to be given back as it came.
    pub id: TestRequestId,
    /// The method's decoded name.
    pub method: String,
    /// The parameters.
    pub params: TestParams,
}

/// A notification from the client.
#[derive(Debug)]
pub struct TestNotification {
    /// The method's decoded name.
    pub method: String,
    /// The parameters.
    pub params: TestParams,
}

/// A response from the client, with its result or error as raw JSON.
#[derive(Debug)]
pub struct TestResponse {
    /// The id of our request.
    pub id: TestRequestId,
    /// The text of `result`, or of `error`.
    pub outcome: Result<String, String>,
}

/// A request id in its sender's spelling.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TestRequestId(pub String);

/// Parameters in their sender's spelling.
#[derive(Debug, Clone, Default)]
pub struct TestParams(String);

impl TestParams {
    /// The bytes as they came; empty when there were none.
    pub fn raw(&self) -> &str {
        &self.0
    }

    /// The decoded parameters; an object even when there were none.
    pub fn value(&self) -> Result<Value, TestRpcError> {
        if self.0.is_empty() {
            return Ok(Value::Object(serde_json::Map::new()));
        }
        serde_json::from_str(&self.0)
            .map_err(|error| TestRpcError::invalid_params(error.to_string()))
    }
}

/// The members of a JSON-RPC message, not yet classified.
#[derive(Deserialize)]
struct RawMessage<'a> {
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

impl TestFrame {
    /// Reads what one line or one POST body holds.
    pub fn parse(text: &str) -> Result<Self, TestRpcError> {
        if !text.trim_start().starts_with('[') {
            return parse_one(text).map(Self::One);
        }
        let parts: Vec<&RawValue> =
            serde_json::from_str(text).map_err(TestRpcError::parse_error)?;
        if parts.is_empty() {
            return Err(TestRpcError::invalid_request("an empty batch"));
        }
        parts
            .into_iter()
            .map(|part| parse_one(part.get()))
            .collect::<Result<_, _>>()
            .map(Self::Batch)
    }
}

fn parse_one(text: &str) -> Result<TestMessage, TestRpcError> {
    let envelope: RawMessage<'_> = serde_json::from_str(text).map_err(TestRpcError::parse_error)?;
    let id = envelope.id.map(|id| TestRequestId(id.get().to_owned()));
    let params =
        TestParams(envelope.params.map(|params| params.get().to_owned()).unwrap_or_default());
    match (envelope.method, id, envelope.result, envelope.error) {
        (Some(method), Some(id), None, None) => {
            Ok(TestMessage::Request(TestRequest { id, method, params }))
        }
        (Some(method), None, None, None) => {
            Ok(TestMessage::Notification(TestNotification { method, params }))
        }
        (None, Some(id), Some(result), None) => {
            Ok(TestMessage::Response(TestResponse { id, outcome: Ok(result.get().to_owned()) }))
        }
        (None, Some(id), None, Some(error)) => {
            Ok(TestMessage::Response(TestResponse { id, outcome: Err(error.get().to_owned()) }))
        }
        _ => Err(TestRpcError::invalid_request("neither request, notification nor response")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beyond_any_type_pass_in_their_own_spelling() {
        let text = r#"{"jsonrpc":"2.0","id":1.0,"method":"m","params":{"n":1e400, "m":-0}}"#;
        let Ok(TestFrame::One(TestMessage::Request(request))) = TestFrame::parse(text) else {
            panic!("a request");
        };
        assert_eq!(request.id, TestRequestId("1.0".to_owned()));
        assert_eq!(request.params.raw(), r#"{"n":1e400, "m":-0}"#);
    }

    #[test]
    fn a_message_with_both_result_and_error_is_refused() {
        assert!(TestFrame::parse(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#).is_err());
    }

    #[test]
    fn a_batch_keeps_its_order() {
        let text = r#"[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","id":"x","method":"b"}]"#;
        let Ok(TestFrame::Batch(messages)) = TestFrame::parse(text) else { panic!("a batch") };
        assert!(matches!(messages[0], TestMessage::Notification(_)));
        assert!(matches!(messages[1], TestMessage::Request(_)));
    }
}
