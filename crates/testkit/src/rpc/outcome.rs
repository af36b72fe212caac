//! The outcome of a request, a result or an error, as JSON text.

use serde_json::{Value, json};

use super::message::TestRequestId;

/// The outcome of a request as JSON text.
#[derive(Debug)]
pub enum ResponseOutcome {
    /// The text of `result`.
    Result(String),
    /// The text of `error`.
    Error(String),
}

impl ResponseOutcome {
    /// The whole response message.
    pub fn frame(&self, id: &TestRequestId) -> String {
        let (member, text) = match self {
            Self::Result(text) => ("result", text),
            Self::Error(text) => ("error", text),
        };
        format!(r#"{{"jsonrpc":"2.0","id":{},"{member}":{text}}}"#, id.0)
    }
}

impl From<Result<Value, TestRpcError>> for ResponseOutcome {
    fn from(ended: Result<Value, TestRpcError>) -> Self {
        match ended {
            Ok(result) => Self::Result(result.to_string()),
            Err(fault) => Self::Error(fault.to_value().to_string()),
        }
    }
}

/// A JSON-RPC error.
#[derive(Debug, Clone)]
pub struct TestRpcError {
    /// The code.
    pub code: i64,
    /// What happened.
    pub message: String,
    /// Details, if any.
    pub data: Option<Value>,
}

impl TestRpcError {
    /// An error of the given code.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The same error with details.
    #[must_use]
    pub fn with_data(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }

    /// What was sent is not JSON.
    pub fn parse_error(error: serde_json::Error) -> Self {
        Self::new(-32700, format!("parse error: {error}"))
    }

    /// What was sent is JSON but no message we can take.
    pub fn invalid_request(why: &str) -> Self {
        Self::new(-32600, format!("invalid request: {why}"))
    }

    /// No such method here.
    pub fn method_not_found(method: &str) -> Self {
        Self::new(-32601, format!("method not found: {method}"))
    }

    /// Returns the error for invalid parameters of a known method.
    pub fn invalid_params(why: impl Into<String>) -> Self {
        Self::new(-32602, why)
    }

    /// The error object.
    pub fn to_value(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        error
    }

    /// A response that belongs to no request we could read.
    pub fn orphan_frame(&self) -> String {
        json!({ "jsonrpc": "2.0", "id": null, "error": self.to_value() }).to_string()
    }

    pub(super) fn from_text(text: &str) -> Self {
        let error: Value = serde_json::from_str(text).unwrap_or_default();
        Self {
            code: error["code"].as_i64().unwrap_or(-32603),
            message: error["message"].as_str().unwrap_or_default().to_owned(),
            data: error.get("data").cloned(),
        }
    }
}
