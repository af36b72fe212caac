//! Prompts that a function of this program fills in.

use serde_json::{Value, json};

use super::complete::{Completers, Completing, Completion};
use super::fault::{Fault, Handler, handler};
use super::{Values, texts};

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    role: &'static str,
    content: Value,
}

impl Message {
    /// What the user says.
    pub fn user(text: impl Into<String>) -> Self {
        Self::of("user", json!({ "type": "text", "text": text.into() }))
    }

    /// What the model is to have said.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::of("assistant", json!({ "type": "text", "text": text.into() }))
    }

    /// What the user shows: a content block as the protocol has it.
    pub fn shown(content: Value) -> Self {
        Self::of("user", content)
    }

    fn of(role: &'static str, content: Value) -> Self {
        Self { role, content }
    }
}

/// A prompt.
#[derive(Clone)]
pub struct Prompt {
    pub(super) name: String,
    definition: Value,
    fill: Handler<Values, Vec<Message>>,
    pub(super) completers: Completers,
}

impl Prompt {
    /// A prompt that is filled in when it is asked for, from its arguments.
    pub fn new<F, A, E>(name: &str, description: &str, function: F) -> Self
    where
        F: Fn(Values) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Vec<Message>, E>> + Send + 'static,
        E: Into<Fault>,
    {
        Self {
            name: name.to_owned(),
            definition: json!({ "name": name, "description": description }),
            fill: handler(function),
            completers: Completers::default(),
        }
    }

    /// A prompt without arguments that always says the same.
    pub fn fixed(name: &str, description: &str, text: &str) -> Self {
        let said = vec![Message::user(text)];
        Self::new(name, description, move |_| {
            let said = said.clone();
            async move { Ok::<_, Fault>(said) }
        })
    }

    /// What people are shown instead of its name.
    #[must_use]
    pub fn title(mut self, title: &str) -> Self {
        self.definition["title"] = json!(title);
        self
    }

    /// Adds an argument.
    #[must_use]
    pub fn argument(mut self, name: &str, description: &str, required: bool) -> Self {
        let argument = json!({ "name": name, "description": description, "required": required });
        match &mut self.definition["arguments"] {
            Value::Array(arguments) => arguments.push(argument),
            none => *none = json!([argument]),
        }
        self
    }

    /// Completes an argument while a user types it.
    #[must_use]
    pub fn complete<F, A, E>(mut self, argument: &str, function: F) -> Self
    where
        F: Fn(Completing) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Completion, E>> + Send + 'static,
        E: Into<Fault>,
    {
        self.completers.add(argument, function);
        self
    }

    pub(super) fn definition(&self) -> &Value {
        &self.definition
    }

    /// Fills it in; the result object of `prompts/get`.
    pub(super) async fn get(&self, arguments: &Value) -> Result<Value, (i32, String)> {
        let filled = async {
            let given = texts(arguments)?;
            if let Some(missing) = self.required().find(|name| !given.contains_key(*name)) {
                return Err(Fault::Invalid(format!("the argument `{missing}` is missing")));
            }
            (self.fill)(given).await
        };
        let messages = filled.await.map_err(|fault| fault.error(&self.name))?;
        let said = |it: Message| json!({ "role": it.role, "content": it.content });
        let messages: Vec<_> = messages.into_iter().map(said).collect();
        Ok(json!({ "description": self.definition["description"], "messages": messages }))
    }

    fn required(&self) -> impl Iterator<Item = &str> {
        let arguments = self.definition["arguments"].as_array().into_iter().flatten();
        let required = arguments.filter(|it| it["required"] == true);
        required.filter_map(|it| it["name"].as_str())
    }
}
