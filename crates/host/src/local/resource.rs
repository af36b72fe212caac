//! Text resources and resource templates whose text a function of this program returns.

use serde_json::{Value, json};

use super::ArgumentValues;
use super::complete::{ArgumentCompleters, Completion, CompletionRequest};
use super::handler::{BoxedHandler, HandlerError, MethodResult, handler};
use super::uri_pattern::UriTemplate;

/// A text resource, or a template for resources: every URI that matches is a resource.
#[derive(Clone)]
#[must_use]
pub struct Resource {
    /// The URI or the URI template.
    pub(super) uri: String,
    pub(super) is_template: bool,
    pattern: UriTemplate,
    pub(super) definition: Value,
    read: BoxedHandler<ArgumentValues, String>,
    pub(super) completers: ArgumentCompleters,
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
        Self {
            uri: uri.to_owned(),
            is_template: false,
            pattern: UriTemplate::literal(uri),
            definition,
            read: handler(move |_| function()),
            completers: ArgumentCompleters::default(),
        }
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

    /// Creates a template from an RFC 6570 URI template. It supports `{name}` for one segment and,
    /// at the end, `{?a,b}` for query members, each of which may be missing. The function gets the
    /// decoded values; query members that the template does not name are ignored.
    pub fn template<F, A, E>(uri_template: &str, name: &str, description: &str, function: F) -> Self
    where
        F: Fn(ArgumentValues) -> A + Send + Sync + 'static,
        A: Future<Output = Result<String, E>> + Send + 'static,
        E: Into<HandlerError>,
    {
        let definition =
            json!({ "uriTemplate": uri_template, "name": name, "description": description });
        Self {
            uri: uri_template.to_owned(),
            is_template: true,
            pattern: UriTemplate::new(uri_template),
            definition,
            read: handler(function),
            completers: ArgumentCompleters::default(),
        }
    }

    /// Sets the title that is shown to users instead of the name.
    pub fn title(self, title: &str) -> Self {
        self.with("title", json!(title))
    }

    /// Sets the media type of the resource, or of all resources of the template.
    pub fn mime_type(self, mime_type: &str) -> Self {
        self.with("mimeType", json!(mime_type))
    }

    /// Sets the annotations: `audience`, `priority`, `lastModified`.
    pub fn annotations(self, annotations: Value) -> Self {
        self.with("annotations", annotations)
    }

    /// Adds a completion function for a variable of the template.
    pub fn complete<F, A, E>(mut self, variable: &str, function: F) -> Self
    where
        F: Fn(CompletionRequest) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Completion, E>> + Send + 'static,
        E: Into<HandlerError>,
    {
        self.completers.0.insert(variable.to_owned(), handler(function));
        self
    }

    fn with(mut self, key: &str, value: Value) -> Self {
        self.definition[key] = value;
        self
    }

    /// Returns the values of the variables, or `None` if the URI does not match.
    pub(super) fn fits(&self, uri: &str) -> Option<ArgumentValues> {
        self.pattern.values(uri)
    }

    /// Reads the resource with this URI. Returns the result object of `resources/read`.
    pub(super) async fn read(&self, uri: &str, values: ArgumentValues) -> MethodResult {
        let text = (self.read)(values).await.map_err(|fault| fault.error(uri))?;
        let mut contents = json!({ "uri": uri, "text": text });
        if let Some(mime_type) = self.definition.get("mimeType") {
            contents["mimeType"] = mime_type.clone();
        }
        Ok(json!({ "contents": [contents] }))
    }
}
