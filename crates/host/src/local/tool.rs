//! Tools that are functions of this program.

use std::fmt;

use serde_json::{Value, json};

use super::ClientHandle;
use super::handler::{BoxedHandler, handler};

/// The input of a tool's function.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// The arguments as the caller sent them.
    pub arguments: Value,
    /// The client that called, for progress notifications and sampling. If the call is cancelled,
    /// the function's future is dropped.
    pub client: ClientHandle,
}

/// The output of a tool's function.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolOutput {
    /// Text for the model.
    Text(String),
    /// An object, sent as structured content and as JSON text.
    Structured(Value),
    /// Structured content with a separate text for the model.
    Both {
        /// The text for the model.
        text: String,
        /// The structured content.
        structured: Value,
    },
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for ToolOutput {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Value> for ToolOutput {
    fn from(value: Value) -> Self {
        Self::Structured(value)
    }
}

impl ToolOutput {
    /// Returns the result object of `tools/call`.
    fn result(self) -> Value {
        let (text, structured) = match self {
            Self::Text(text) => (text, None),
            Self::Structured(value) => (value.to_string(), Some(value)),
            Self::Both { text, structured } => (text, Some(structured)),
        };
        let mut result = json!({ "content": [{ "type": "text", "text": text }] });
        if let Some(structured) = structured {
            result["structuredContent"] = structured;
        }
        result
    }
}

/// A tool of the embedding program.
#[derive(Clone)]
#[must_use]
pub struct Tool {
    pub(super) definition: Value,
    handler: BoxedHandler<ToolCall, ToolOutput>,
}

impl Tool {
    /// Creates a tool with a name, a description, the JSON Schema of its arguments, and its
    /// function. An error of the function is reported to the model as a failed tool result.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toolgate_host::HostError> {
    /// use toolgate_host::{Host, Tool, json};
    ///
    /// let shout = Tool::new("shout", "Says it louder", json!({ "type": "object" }), |call| async
    /// move {
    ///     let text = call.arguments["text"].as_str().ok_or("`text` must be a string")?;
    ///     Ok::<_, &str>(text.to_uppercase().into())
    /// });
    /// let host = Host::builder().tool(shout).start().await?;
    /// host.wait_settled().await;
    /// let result = host.call("shout", &json!({ "text": "hello" })).await?;
    /// assert_eq!(result["content"][0]["text"], "HELLO");
    /// # host.close().await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn new<F, A, E>(name: &str, description: &str, input_schema: Value, function: F) -> Self
    where
        F: Fn(ToolCall) -> A + Send + Sync + 'static,
        A: Future<Output = Result<ToolOutput, E>> + Send + 'static,
        E: fmt::Display,
    {
        let definition =
            json!({ "name": name, "description": description, "inputSchema": input_schema });
        let handler = handler(move |call| {
            let answer = function(call);
            async move { answer.await.map_err(|error| error.to_string()) }
        });
        Self { definition, handler }
    }

    /// Sets the title that is shown to users instead of the name.
    pub fn title(self, title: &str) -> Self {
        self.with("title", json!(title))
    }

    /// Sets the JSON Schema of the structured content. Every result must then have structured
    /// content.
    pub fn output_schema(self, schema: Value) -> Self {
        self.with("outputSchema", schema)
    }

    /// Declares the tool as read-only.
    pub fn read_only(self) -> Self {
        self.annotations(json!({ "readOnlyHint": true }))
    }

    /// Adds annotations: `readOnlyHint`, `destructiveHint`, `idempotentHint`, `openWorldHint`.
    /// Annotations set before stay unless they are set again.
    pub fn annotations(mut self, annotations: Value) -> Self {
        let declared = &mut self.definition["annotations"];
        match (declared.as_object_mut(), annotations) {
            (Some(declared), Value::Object(more)) => declared.extend(more),
            (_, annotations) => *declared = annotations,
        }
        self
    }

    /// Sets `_meta`.
    pub fn meta(self, meta: Value) -> Self {
        self.with("_meta", meta)
    }

    fn with(mut self, key: &str, value: Value) -> Self {
        self.definition[key] = value;
        self
    }

    pub(crate) fn name(&self) -> &str {
        self.definition["name"].as_str().unwrap_or_default()
    }

    /// Runs the tool. Returns the result object of `tools/call`.
    pub(super) async fn run(&self, call: ToolCall) -> Value {
        match (self.handler)(call).await {
            Ok(output) => output.result(),
            Err(error) => {
                let text = error.to_string();
                json!({ "content": [{ "type": "text", "text": text }], "isError": true })
            }
        }
    }
}
