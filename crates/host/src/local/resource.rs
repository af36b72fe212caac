//! Resources whose text a function of this program gives, one by one or by a template.

use serde_json::{Value, json};

use super::Values;
use super::complete::{Completers, Completing, Completion};
use super::fault::{Fault, Handler, handler};
use super::pattern::Pattern;

/// A text resource.
#[derive(Clone)]
pub struct Resource {
    pub(super) uri: String,
    definition: Value,
    read: Handler<(), String>,
}

impl Resource {
    /// A resource whose text is made when it is read.
    pub fn new<F, A, E>(uri: &str, name: &str, description: &str, function: F) -> Self
    where
        F: Fn() -> A + Send + Sync + 'static,
        A: Future<Output = Result<String, E>> + Send + 'static,
        E: Into<Fault>,
    {
        let definition = json!({ "uri": uri, "name": name, "description": description });
        Self { uri: uri.to_owned(), definition, read: handler(move |()| function()) }
    }

    /// A resource whose text is always the same.
    pub fn fixed(uri: &str, name: &str, description: &str, text: &str) -> Self {
        let whole = text.to_owned();
        let resource = Self::new(uri, name, description, move || {
            let text = whole.clone();
            async move { Ok::<_, Fault>(text) }
        });
        resource.with("size", json!(text.len()))
    }

    /// What people are shown instead of its name.
    #[must_use]
    pub fn title(self, title: &str) -> Self {
        self.with("title", json!(title))
    }

    /// Its media type.
    #[must_use]
    pub fn mime_type(self, mime_type: &str) -> Self {
        self.with("mimeType", json!(mime_type))
    }

    /// For whom it is, and how much it matters: `audience`, `priority`, `lastModified`.
    #[must_use]
    pub fn annotations(self, annotations: Value) -> Self {
        self.with("annotations", annotations)
    }

    /// How many bytes its text has.
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

    /// Reads it; the result object of `resources/read`.
    pub(super) async fn read(&self) -> Result<Value, (i32, String)> {
        let text = (self.read)(()).await.map_err(|fault| fault.error(&self.uri))?;
        Ok(contents(&self.uri, &self.definition, text))
    }
}

/// Resources that are made for whatever URI fits a template.
#[derive(Clone)]
pub struct Template {
    pub(super) uri: String,
    pattern: Pattern,
    definition: Value,
    read: Handler<Values, String>,
    pub(super) completers: Completers,
}

impl Template {
    /// Resources of an RFC 6570 template, with `{name}` for one segment and, at its end, `{?a,b}` for
    /// members of a query, all of which may be missing. The function gets what stands in their
    /// places, decoded; members that the template does not name are left out.
    pub fn new<F, A, E>(uri_template: &str, name: &str, description: &str, function: F) -> Self
    where
        F: Fn(Values) -> A + Send + Sync + 'static,
        A: Future<Output = Result<String, E>> + Send + 'static,
        E: Into<Fault>,
    {
        Self {
            uri: uri_template.to_owned(),
            pattern: Pattern::new(uri_template),
            definition: json!({
                "uriTemplate": uri_template, "name": name, "description": description,
            }),
            read: handler(function),
            completers: Completers::default(),
        }
    }

    /// What people are shown instead of its name.
    #[must_use]
    pub fn title(self, title: &str) -> Self {
        self.with("title", json!(title))
    }

    /// The media type of all of them.
    #[must_use]
    pub fn mime_type(self, mime_type: &str) -> Self {
        self.with("mimeType", json!(mime_type))
    }

    /// For whom they are, and how much they matter: `audience`, `priority`, `lastModified`.
    #[must_use]
    pub fn annotations(self, annotations: Value) -> Self {
        self.with("annotations", annotations)
    }

    /// Completes a variable while a user types it.
    #[must_use]
    pub fn complete<F, A, E>(mut self, variable: &str, function: F) -> Self
    where
        F: Fn(Completing) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Completion, E>> + Send + 'static,
        E: Into<Fault>,
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

    /// What stands in the places of its variables, if the URI fits.
    pub(super) fn fits(&self, uri: &str) -> Option<Values> {
        self.pattern.values(uri)
    }

    /// Reads one of them; the result object of `resources/read`.
    pub(super) async fn read(&self, uri: &str, values: Values) -> Result<Value, (i32, String)> {
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
