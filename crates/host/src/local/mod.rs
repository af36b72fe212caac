//! Servers made of functions of this program, speaking MCP like any other.
//!
//! They stand behind the same gate as every server: the embedding program's own tools, the local
//! context, and the sample server. A [`LocalServer`] serves lines, on a pipe inside this process or
//! on standard streams. It checks no arguments against schemas: the gate does, and functions that
//! may be called without one look for themselves.

mod answer;
mod client;
mod complete;
mod fault;
mod pattern;
mod prompt;
mod resource;
mod serve;
mod tool;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use toolgate_fleet::BuiltIn;

pub use client::{AskError, Client};
pub use complete::{Completing, Completion};
pub use fault::Fault;
pub use prompt::{Message, Prompt};
pub use resource::{Resource, Template};
pub use tool::{Output, Tool, ToolCall};

/// Arguments of a prompt, or the variables of a template, by name.
pub type Values = BTreeMap<String, String>;

/// A server made of functions. Cheap to clone.
#[derive(Clone)]
pub struct LocalServer(Arc<Parts>);

#[derive(Clone)]
struct Parts {
    name: String,
    instructions: Option<String>,
    relays: bool,
    tools: Vec<Tool>,
    resources: Vec<Resource>,
    templates: Vec<Template>,
    prompts: Vec<Prompt>,
}

impl LocalServer {
    /// A server that offers nothing yet.
    pub fn new(name: &str) -> Self {
        Self(Arc::new(Parts {
            name: name.to_owned(),
            instructions: None,
            relays: false,
            tools: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            prompts: Vec::new(),
        }))
    }

    /// Tells the model something.
    #[must_use]
    pub fn instructions(mut self, text: &str) -> Self {
        Arc::make_mut(&mut self.0).instructions = Some(text.to_owned());
        self
    }

    /// Says that it passes on what others wrote, documents for instance: whoever has read it counts
    /// as having read untrusted content.
    #[must_use]
    pub fn relaying(mut self) -> Self {
        Arc::make_mut(&mut self.0).relays = true;
        self
    }

    /// Adds tools; a later one replaces an earlier one of the same name.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        let parts = Arc::make_mut(&mut self.0);
        for tool in tools {
            parts.tools.retain(|known| known.name() != tool.name());
            parts.tools.push(tool);
        }
        self
    }

    /// Adds a resource.
    #[must_use]
    pub fn resource(mut self, resource: Resource) -> Self {
        Arc::make_mut(&mut self.0).resources.push(resource);
        self
    }

    /// Adds resources by a template; what is listed one by one comes before them.
    #[must_use]
    pub fn template(mut self, template: Template) -> Self {
        Arc::make_mut(&mut self.0).templates.push(template);
        self
    }

    /// Adds a prompt.
    #[must_use]
    pub fn prompt(mut self, prompt: Prompt) -> Self {
        Arc::make_mut(&mut self.0).prompts.push(prompt);
        self
    }

    /// Serves one client until its stream ends.
    pub async fn serve_on<R, W>(&self, input: R, output: W)
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        serve::serve(self.0.clone(), input, output).await;
    }
}

impl BuiltIn for LocalServer {
    fn relays(&self) -> bool {
        self.0.relays
    }

    fn serve(&self, pipe: DuplexStream) {
        let server = self.clone();
        tokio::spawn(async move {
            let (input, output) = tokio::io::split(pipe);
            server.serve_on(input, output).await;
        });
    }
}

/// Arguments that are all texts, as those of prompts are by the protocol.
fn texts(arguments: &Value) -> Result<Values, Fault> {
    let Some(arguments) = arguments.as_object() else { return Ok(Values::new()) };
    let text = |(name, value): (&String, &Value)| match value.as_str() {
        Some(text) => Ok((name.clone(), text.to_owned())),
        None => Err(Fault::Invalid(format!("the argument `{name}` must be a string"))),
    };
    arguments.iter().map(text).collect()
}
