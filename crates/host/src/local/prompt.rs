//! Prompts whose messages a function of this program creates.

use serde_json::{Value, json};

use super::complete::{ArgumentCompleters, Completion, CompletionRequest};
use super::handler::{BoxedHandler, HandlerError, MethodResult, handler};
use super::{ArgumentValues, string_arguments};

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptMessage {
    role: &'static str,
    text: String,
}

impl PromptMessage {
    /// Creates a text message with the role `user`.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: "user", text: text.into() }
    }

    /// Creates a text message with the role `assistant`.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self { role: "assistant", text: text.into() }
    }
}

/// A prompt of a local server.
#[derive(Clone)]
#[must_use]
pub struct Prompt {
    pub(super) name: String,
    pub(super) definition: Value,
    fill: BoxedHandler<ArgumentValues, Vec<PromptMessage>>,
    pub(super) completers: ArgumentCompleters,
}

impl Prompt {
    /// Creates a prompt whose messages a function creates from its arguments.
    pub fn new<F, A, E>(name: &str, description: &str, function: F) -> Self
    where
        F: Fn(ArgumentValues) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Vec<PromptMessage>, E>> + Send + 'static,
        E: Into<HandlerError>,
    {
        Self {
            name: name.to_owned(),
            definition: json!({ "name": name, "description": description }),
            fill: handler(function),
            completers: ArgumentCompleters::default(),
        }
    }

    /// Creates a prompt without arguments and with a fixed text.
    pub fn fixed(name: &str, description: &str, text: &str) -> Self {
        let messages = vec![PromptMessage::user(text)];
        Self::new(name, description, move |_| {
            let messages = messages.clone();
            async move { Ok::<_, HandlerError>(messages) }
        })
    }

    /// Sets the title that is shown to users instead of the name.
    pub fn title(mut self, title: &str) -> Self {
        self.definition["title"] = json!(title);
        self
    }

    /// Adds an argument.
    pub fn argument(mut self, name: &str, description: &str, required: bool) -> Self {
        let argument = json!({ "name": name, "description": description, "required": required });
        match &mut self.definition["arguments"] {
            Value::Array(arguments) => arguments.push(argument),
            none => *none = json!([argument]),
        }
        self
    }

    /// Adds a completion function for an argument.
    pub fn complete<F, A, E>(mut self, argument: &str, function: F) -> Self
    where
        F: Fn(CompletionRequest) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Completion, E>> + Send + 'static,
        E: Into<HandlerError>,
    {
        self.completers.0.insert(argument.to_owned(), handler(function));
        self
    }

    /// Creates the messages. Returns the result object of `prompts/get`.
    pub(super) async fn get(&self, arguments: &Value) -> MethodResult {
        let filled = async {
            let given = string_arguments(arguments)?;
            let arguments = self.definition["arguments"].as_array().into_iter().flatten();
            let required = arguments.filter(|it| it["required"] == true);
            let mut names = required.filter_map(|it| it["name"].as_str());
            if let Some(missing) = names.find(|name| !given.contains_key(*name)) {
                return Err(HandlerError::Invalid(format!("the argument `{missing}` is missing")));
            }
            (self.fill)(given).await
        };
        let messages = filled.await.map_err(|fault| fault.error(&self.name))?;
        let to_json = |it: PromptMessage| json!({ "role": it.role, "content": { "type": "text", "text": it.text } });
        let messages: Vec<_> = messages.into_iter().map(to_json).collect();
        Ok(json!({ "description": self.definition["description"], "messages": messages }))
    }
}
