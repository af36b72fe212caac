//! Clients of 2026-07-28, which have no session.

mod headers;
mod lines;
mod listen;
mod parked;
mod requests;
mod visitors;

use serde_json::{Value, json};

use super::Stage;
use super::client::{Http, Reply};

/// A request with an envelope.
fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    let mut params = params;
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
    let capabilities = &mut params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    if capabilities.is_null() {
        *capabilities = json!({});
    }
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

pub(super) fn call(id: impl Into<Value>, tool: &str) -> Value {
    request(id, "tools/call", json!({"name": tool}))
}

/// A call of a client that can be asked everything.
fn asked(id: impl Into<Value>, tool: &str) -> Value {
    let capabilities = json!({"elicitation": {"form": {}}, "sampling": {}, "roots": {}});
    let meta = json!({"io.modelcontextprotocol/clientCapabilities": capabilities});
    request(id, "tools/call", json!({"name": tool, "_meta": meta}))
}

/// The retry of a call that was answered with questions.
fn retry(mut message: Value, id: u64, asked: &Value, answers: Value) -> Value {
    message["id"] = id.into();
    message["params"]["inputResponses"] = answers;
    message["params"]["requestState"] = asked["requestState"].clone();
    message
}

impl Http {
    /// The headers that repeat a message.
    fn labelled(&self, message: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let params = &message["params"];
        let version = &params["_meta"]["io.modelcontextprotocol/protocolVersion"];
        let named = match message["method"].as_str().unwrap_or_default() {
            "tools/call" | "prompts/get" => text(&params["name"]),
            "resources/read" => text(&params["uri"]),
            "tasks/get" | "tasks/update" | "tasks/cancel" => text(&params["taskId"]),
            _ => String::new(),
        };
        self.with("mcp-protocol-version", &text(version))
            .with("mcp-method", &text(&message["method"]))
            .with("mcp-name", &named)
    }

    /// Posts a message under the headers that repeat it.
    pub(super) async fn say(&self, message: &Value) -> Reply {
        self.labelled(message).post(message.clone()).await
    }

    /// Posts a message and gives back the result.
    async fn result(&self, message: &Value) -> Value {
        let answer = self.say(message).await.json().await;
        assert_eq!(answer["id"], message["id"], "{answer}");
        answer["result"].clone()
    }

    /// Posts a message and gives back status and code of the error it gets.
    async fn refusal(&self, message: &Value) -> (u16, i64) {
        let reply = self.say(message).await;
        let status = reply.status();
        let answer = reply.json().await;
        assert_eq!(answer["id"], message["id"], "{answer}");
        (status, answer["error"]["code"].as_i64().unwrap_or_default())
    }
}
