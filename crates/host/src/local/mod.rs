//! Servers made of functions of this program, speaking MCP like any other.
//!
//! They stand behind the same gate as every server: the embedding program's own tools, and the
//! sample server. A [`LocalServer`] serves lines, on a pipe inside this process or on standard
//! streams.

mod serve;
mod tool;

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use toolgate_fleet::BuiltIn;

pub use tool::{Output, Tool, ToolCall};

/// A text resource.
#[derive(Debug, Clone)]
pub struct Resource {
    /// Its URI.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: String,
    /// Its media type.
    pub mime_type: String,
    /// Its text.
    pub text: String,
}

/// A prompt without arguments.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// What the user says.
    pub text: String,
}

/// A server made of functions. Cheap to clone.
#[derive(Clone)]
pub struct LocalServer(Arc<Parts>);

#[derive(Clone)]
struct Parts {
    name: String,
    instructions: Option<String>,
    tools: Vec<Tool>,
    resources: Vec<Resource>,
    prompts: Vec<Prompt>,
}

impl LocalServer {
    /// A server that offers nothing yet.
    pub fn new(name: &str) -> Self {
        Self(Arc::new(Parts {
            name: name.to_owned(),
            instructions: None,
            tools: Vec::new(),
            resources: Vec::new(),
            prompts: Vec::new(),
        }))
    }

    /// Tells the model something.
    #[must_use]
    pub fn instructions(mut self, text: &str) -> Self {
        Arc::make_mut(&mut self.0).instructions = Some(text.to_owned());
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
    fn serve(&self, pipe: DuplexStream) {
        let server = self.clone();
        tokio::spawn(async move {
            let (input, output) = tokio::io::split(pipe);
            server.serve_on(input, output).await;
        });
    }
}
