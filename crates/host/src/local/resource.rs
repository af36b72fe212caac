//! Text resources and resource templates whose text a function of this program returns.

use serde_json::{Value, json};

use super::ArgumentValues;
use super::complete::{Completers, Completion, CompletionRequest};
use super::handler::{HandlerError, LocalHandler, handler};
use super::uri_pattern::UriPattern;

/// A text resource.
#[derive(Clone)]
pub struct Resource {
    pub(super) uri: String,
    definition: Value,
    read: LocalHandler<(), String>,
}

impl Resource {
    /// Creates a resource whose text a function returns.
    pub fn new<F, A, E>(uri: &str, name: &str, description: &str, function: F) -> Self
    where
        F: Fn() -> A + Send + Sync + 'static,
        A: Future<Output = Result<String, E>> + Send + 'static,
        E: Into<HandlerError>,
    {
        let definition = json!({ "uri": uri, "name": name, "description": description });
        Self { uri: uri.to_owned(), definition, read: handler(move |()| function()) }
    }

    /// Creates a resource with a fixed text.
    pub fn fixed(uri: &str, name: &str, description: &str, text: &str) -> Self {
        let whole = text.to_owned();
        let resource = Self::new(uri, name, description, move || {
            let text = whole.clone();
            async move { Ok::<_, HandlerError>(text) }
        });
        resource.with("size", json!(text.len()))
    }

    /// Sets the title that is shown to users instead of the name.
    #[must_use]
    pub fn title(self, title: &str) -> Self {
        self.with("title", json!(title))
    }

    /// Sets the media type.
    #[must_use]
    pub fn mime_type(self, mime_type: &str) -> Self {
        self.with("mimeType", json!(mime_type))
    }

    /// Sets the annotations: `audience`, `priority`, `lastModified`.
    #[must_use]
    pub fn annotations(self, annotations: Value) -> Self {
        self.with("annotations", annotations)
    }

    /// Sets the size of the text in bytes.
    #[must_use]
    pub fn size(self, bytes: u64) -> Self {
        self.with("size", json!(bytes))
    }

    fn with(mut self, key: &str, value: Value) -> Self {
        self.definition[key] = value;
        self
    }

    pub(super) fn definition(&self) -> &Value {
        &self.definition
    }

    /// Reads the resource. Returns the result object of `resources/read`.
    pub(super) async fn read(&self) -> Result<Value, (i32, String)> {
        let text = (self.read)(()).await.map_err(|fault| fault.error(&self.uri))?;
        Ok(contents(&self.uri, &self.definition, text))
    }
}

/// A template for resources: every URI that matches is a resource.
#[derive(Clone)]
pub struct ResourceTemplate {
    pub(super) uri: String,
    pattern: UriPattern,
    definition: Value,
    read: LocalHandler<ArgumentValues, String>,
    pub(super) completers: Completers,
}

impl ResourceTemplate {
    /// Creates a template from an RFC 6570 URI template. It supports `{name}` for one segment and,
    /// at the end, `{?a,b}` for query members, each of which may be missing. The function gets the
    /// decoded values; query members that the template does not name are ignored.
    pub fn new<F, A, E>(uri_template: &str, name: &str, description: &str, function: F) -> Self
    where
        F: Fn(ArgumentValues) -> A + Send + Sync + 'static,
        A: Future<Output = Result<String, E>> + Send + 'static,
        E: Into<HandlerError>,
    {
        Self {
            uri: uri_template.to_owned(),
            pattern: UriPattern::new(uri_template),
            definition: json!({
                "uriTemplate": uri_template, "name": name, "description": description,
            }),
            read: handler(function),
            completers: Completers::default(),
        }
    }

    /// Sets the title that is shown to users instead of the name.
    #[must_use]
    pub fn title(self, title: &str) -> Self {
        self.with("title", json!(title))
    }

    /// Sets the media type of all resources of the template.
    #[must_use]
    pub fn mime_type(self, mime_type: &str) -> Self {
        self.with("mimeType", json!(mime_type))
    }

    /// Sets the annotations of all resources: `audience`, `priority`, `lastModified`.
    #[must_use]
    pub fn annotations(self, annotations: Value) -> Self {
        self.with("annotations", annotations)
    }

    /// Adds a completion function for a variable.
    #[must_use]
    pub fn complete<F, A, E>(mut self, variable: &str, function: F) -> Self
    where
        F: Fn(CompletionRequest) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Completion, E>> + Send + 'static,
        E: Into<HandlerError>,
    {
        self.completers.add(variable, function);
        self
    }

    fn with(mut self, key: &str, value: Value) -> Self {
        self.definition[key] = value;
        self
    }

    pub(super) fn definition(&self) -> &Value {
        &self.definition
    }

    /// Returns the values of the variables, or `None` if the URI does not match.
    pub(super) fn fits(&self, uri: &str) -> Option<ArgumentValues> {
        self.pattern.values(uri)
    }

    /// Reads one resource. Returns the result object of `resources/read`.
    pub(super) async fn read(
        &self,
        uri: &str,
        values: ArgumentValues,
    ) -> Result<Value, (i32, String)> {
        let text = (self.read)(values).await.map_err(|fault| fault.error(uri))?;
        Ok(contents(uri, &self.definition, text))
    }
}

fn contents(uri: &str, definition: &Value, text: String) -> Value {
    let mut contents = json!({ "uri": uri, "text": text });
    if let Some(mime_type) = definition.get("mimeType") {
        contents["mimeType"] = mime_type.clone();
    }
    json!({ "contents": [contents] })
}
