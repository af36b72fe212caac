//! A tool that is a function of this program.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

/// What a tool's function is given.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// The arguments, as the caller sent them.
    pub arguments: Value,
}

/// What a tool's function gives back.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Text for the model.
    Text(String),
    /// An object, sent as structured content and as its text.
    Structured(Value),
}

impl From<String> for Output {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Output {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Value> for Output {
    fn from(value: Value) -> Self {
        Self::Structured(value)
    }
}

type Handler = dyn Fn(ToolCall) -> BoxFuture<'static, Result<Output, String>> + Send + Sync;

/// A tool of the embedding program.
#[derive(Clone)]
pub struct Tool {
    definition: Value,
    handler: Arc<Handler>,
}

impl Tool {
    /// A tool with a name, what it is for, the JSON Schema of its arguments, and its function. An
    /// error is told to the model as the tool's failure.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toolgate_host::HostError> {
    /// use toolgate_host::{Host, Tool, json};
    ///
    /// let shout = Tool::new("shout", "Says it louder", json!({ "type": "object" }), |call| async move {
    ///     let text = call.arguments["text"].as_str().ok_or("`text` must be a string")?;
    ///     Ok::<_, &str>(text.to_uppercase().into())
    /// });
    /// let host = Host::builder().tool(shout).start().await?;
    /// host.settled().await;
    /// let result = host.call("shout", &json!({ "text": "hello" })).await?;
    /// assert_eq!(result["content"][0]["text"], "HELLO");
    /// # host.close().await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn new<F, A, E>(name: &str, description: &str, input_schema: Value, function: F) -> Self
    where
        F: Fn(ToolCall) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Output, E>> + Send + 'static,
        E: fmt::Display,
    {
        let definition =
            json!({ "name": name, "description": description, "inputSchema": input_schema });
        let handler = move |call| -> BoxFuture<'static, Result<Output, String>> {
            let answer = function(call);
            Box::pin(async move { answer.await.map_err(|error| error.to_string()) })
        };
        Self { definition, handler: Arc::new(handler) }
    }

    /// Declares that the tool changes nothing.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.definition["annotations"] = json!({ "readOnlyHint": true });
        self
    }

    pub(crate) fn name(&self) -> &str {
        self.definition["name"].as_str().unwrap_or_default()
    }

    pub(crate) fn definition(&self) -> &Value {
        &self.definition
    }

    /// Runs it; the result object of `tools/call`.
    pub(crate) async fn run(&self, arguments: Value) -> Value {
        match (self.handler)(ToolCall { arguments }).await {
            Ok(Output::Text(text)) => json!({ "content": [{ "type": "text", "text": text }] }),
            Ok(Output::Structured(value)) => json!({
                "content": [{ "type": "text", "text": value.to_string() }],
                "structuredContent": value,
            }),
            Err(text) => {
                json!({ "content": [{ "type": "text", "text": text }], "isError": true })
            }
        }
    }
}
