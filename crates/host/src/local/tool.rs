//! A tool that is a function of this program.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::Client;

/// What a tool's function is given.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// The arguments, as the caller sent them.
    pub arguments: Value,
    /// Who called: to be told how far it has come, and to be asked. A call that is cancelled is
    /// dropped where it waits.
    pub client: Client,
}

/// What a tool's function gives back.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Text for the model.
    Text(String),
    /// An object, sent as structured content and as its text.
    Structured(Value),
    /// An object for programs, and what the model is to read.
    Both {
        /// For the model.
        text: String,
        /// For programs.
        structured: Value,
    },
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

impl Output {
    /// The result object of `tools/call`.
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

    /// What people are shown instead of its name.
    #[must_use]
    pub fn title(self, title: &str) -> Self {
        self.with("title", json!(title))
    }

    /// The JSON Schema of its structured content, which every result then has.
    #[must_use]
    pub fn output_schema(self, schema: Value) -> Self {
        self.with("outputSchema", schema)
    }

    /// Declares that the tool changes nothing.
    #[must_use]
    pub fn read_only(self) -> Self {
        self.annotations(json!({ "readOnlyHint": true }))
    }

    /// Declares what it does to the world: `readOnlyHint`, `destructiveHint`, `idempotentHint`,
    /// `openWorldHint`. What was declared before and is not named stays.
    #[must_use]
    pub fn annotations(mut self, annotations: Value) -> Self {
        let declared = &mut self.definition["annotations"];
        match (declared.as_object_mut(), annotations) {
            (Some(declared), Value::Object(more)) => declared.extend(more),
            (_, annotations) => *declared = annotations,
        }
        self
    }

    /// What else there is to say of it to programs that know the keys (`_meta`).
    #[must_use]
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

    pub(crate) fn definition(&self) -> &Value {
        &self.definition
    }

    /// Runs it; the result object of `tools/call`.
    pub(super) async fn run(&self, call: ToolCall) -> Value {
        match (self.handler)(call).await {
            Ok(output) => output.result(),
            Err(text) => {
                json!({ "content": [{ "type": "text", "text": text }], "isError": true })
            }
        }
    }
}
