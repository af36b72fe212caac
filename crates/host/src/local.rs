//! MCP servers made of functions of this program: the embedding program's own tools, the local
//! context and the sample server.
//!
//! They pass the same gate as all other servers. A [`InProcessServer`] serves line-based MCP on a pipe
//! inside this process or on stdio. It does not validate arguments against schemas; the gate does
//! that, and functions that can be called without the gate must check for themselves.

mod client;
mod complete;
mod handler;
mod methods;
mod prompt;
mod resource;
mod serve;
mod tool;
mod uri_pattern;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use toolgate_fleet::BuiltInServer;

pub use client::{ClientHandle, RequestToClientError};
pub use complete::{Completion, CompletionRequest};
pub use handler::HandlerError;
pub use prompt::{Prompt, PromptMessage};
pub use resource::Resource;
pub use tool::{Tool, ToolCall, ToolOutput};

/// The arguments of a prompt or the variables of a template, by name.
pub type ArgumentValues = BTreeMap<String, String>;

/// A server made of functions. Cheap to clone.
#[derive(Clone)]
#[must_use]
pub struct InProcessServer(Arc<InProcessServerParts>);

/// The name and the capabilities of a local server.
#[derive(Clone, Default)]
struct InProcessServerParts {
    name: String,
    instructions: Option<String>,
    relays: bool,
    tools: Vec<Tool>,
    resources: Vec<Resource>,
    prompts: Vec<Prompt>,
}

impl InProcessServer {
    /// Creates a server without capabilities.
    pub fn new(name: &str) -> Self {
        let name = name.to_owned();
        Self(Arc::new(InProcessServerParts { name, ..InProcessServerParts::default() }))
    }

    /// Sets the instructions for the model.
    pub fn instructions(mut self, text: &str) -> Self {
        Arc::make_mut(&mut self.0).instructions = Some(text.to_owned());
        self
    }

    /// Marks the server as passing on content written by others, such as documents. Reading from it
    /// counts as reading untrusted content.
    pub fn with_untrusted_content(mut self) -> Self {
        Arc::make_mut(&mut self.0).relays = true;
        self
    }

    /// Adds tools. A later tool replaces an earlier one with the same name.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        let parts = Arc::make_mut(&mut self.0);
        for tool in tools {
            parts.tools.retain(|known| known.name() != tool.name());
            parts.tools.push(tool);
        }
        self
    }

    /// Adds a resource or a resource template. Individual resources take precedence over templates.
    pub fn resource(mut self, resource: Resource) -> Self {
        Arc::make_mut(&mut self.0).resources.push(resource);
        self
    }

    /// Adds a prompt.
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

impl BuiltInServer for InProcessServer {
    fn relays_untrusted_content(&self) -> bool {
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

/// Converts arguments to strings. The protocol requires string arguments for prompts.
fn string_arguments(arguments: &Value) -> Result<ArgumentValues, HandlerError> {
    let Some(arguments) = arguments.as_object() else { return Ok(ArgumentValues::new()) };
    let text = |(name, value): (&String, &Value)| match value.as_str() {
        Some(text) => Ok((name.clone(), text.to_owned())),
        None => Err(HandlerError::Invalid(format!("the argument `{name}` must be a string"))),
    };
    arguments.iter().map(text).collect()
}
