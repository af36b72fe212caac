//! The JSON Schemas of the protocol, and the definition that each message must match.
//!
//! `cargo xtask peers` takes the schemas from a released package. The methods, their senders and
//! their results are read from the unions in the schemas, not listed by hand.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::Validator;
use serde_json::{Map, Value, json};

use super::log::MessageDirection;

/// A protocol revision with a schema.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum SchemaRevision {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

impl SchemaRevision {
    /// All of them, oldest first.
    pub const ALL: [SchemaRevision; 5] = [
        SchemaRevision::V2024_11_05,
        SchemaRevision::V2025_03_26,
        SchemaRevision::V2025_06_18,
        SchemaRevision::V2025_11_25,
        SchemaRevision::V2026_07_28,
    ];

    /// Its name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            SchemaRevision::V2024_11_05 => "2024-11-05",
            SchemaRevision::V2025_03_26 => "2025-03-26",
            SchemaRevision::V2025_06_18 => "2025-06-18",
            SchemaRevision::V2025_11_25 => "2025-11-25",
            SchemaRevision::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == name)
    }

    /// Whether it has no `initialize` and no sessions.
    pub fn is_modern(self) -> bool {
        self >= SchemaRevision::V2026_07_28
    }
}

impl fmt::Display for SchemaRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The schemas of all revisions, in their order.
#[derive(Debug)]
pub struct ProtocolSchemas(Vec<ProtocolSchema>);

impl ProtocolSchemas {
    /// Reads `<revision>.json` of every revision.
    pub fn load(folder: &Path) -> io::Result<Self> {
        Self::each(|revision| {
            let file = folder.join(format!("{revision}.json"));
            let unread = |why: String| {
                let file = file.display();
                io::Error::other(format!("{file}: {why} (`cargo xtask peers` writes it)"))
            };
            let text = std::fs::read_to_string(&file).map_err(|error| unread(error.to_string()))?;
            serde_json::from_str(&text).map_err(|error| unread(error.to_string()))
        })
    }

    /// Takes the documents from wherever they are.
    pub(super) fn each(document: impl Fn(SchemaRevision) -> io::Result<Value>) -> io::Result<Self> {
        let schema = |revision| ProtocolSchema::new(document(revision)?);
        SchemaRevision::ALL.into_iter().map(schema).collect::<io::Result<_>>().map(ProtocolSchemas)
    }

    pub(super) fn of(&self, revision: SchemaRevision) -> &ProtocolSchema {
        &self.0[revision as usize]
    }

    /// Whether any revision defines this method.
    pub(super) fn defines_method(&self, method: &str) -> bool {
        self.0.iter().any(|schema| schema.definitions().any(|(_, it)| has_method(it, method)))
    }
}

/// The union of the schema in which a message is looked up.
#[derive(Clone, Copy, Debug)]
pub(super) enum MessageUnion {
    Request,
    Notification,
}

/// The schema of one revision.
#[derive(Debug)]
pub(super) struct ProtocolSchema {
    document: Value,
    /// Where the definitions stand: `$defs`, or `definitions` in older documents.
    key: &'static str,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

impl ProtocolSchema {
    fn new(mut document: Value) -> io::Result<Self> {
        let key = if document.get("$defs").is_some() { "$defs" } else { "definitions" };
        let Some(definitions) = document.get_mut(key).and_then(Value::as_object_mut) else {
            return Err(io::Error::other("a schema without definitions"));
        };
        mend_numbers(definitions);
        Ok(ProtocolSchema { document, key, validators: Mutex::default() })
    }

    fn definitions(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.document[self.key].as_object().into_iter().flatten()
    }

    fn definition(&self, name: &str) -> Option<&Value> {
        self.document[self.key].get(name)
    }

    /// The first of these names that is defined; the names changed over the revisions.
    pub(super) fn first<'a>(&self, names: &[&'a str]) -> Option<&'a str> {
        names.iter().copied().find(|name| self.definition(name).is_some())
    }

    /// The definition of a message with this method, if its sender may send it.
    pub(super) fn message(
        &self,
        kind: MessageUnion,
        direction: MessageDirection,
        method: &str,
    ) -> Option<&str> {
        let union = match (direction, kind) {
            (MessageDirection::ToServer, MessageUnion::Request) => "ClientRequest",
            (MessageDirection::ToServer, MessageUnion::Notification) => "ClientNotification",
            (MessageDirection::ToClient, MessageUnion::Request) => "ServerRequest",
            (MessageDirection::ToClient, MessageUnion::Notification) => "ServerNotification",
        };
        let (union, whole) = self.document[self.key].as_object()?.get_key_value(union)?;
        // A union of one is written as that one.
        let members = whole["anyOf"].as_array().map_or(&[][..], Vec::as_slice);
        let mut names = members.iter().filter_map(target).chain([union.as_str()]);
        names.find(|name| self.definition(name).is_some_and(|it| has_method(it, method)))
    }

    /// The definition of what a request of this definition returns.
    pub(super) fn result(&self, request: &str) -> String {
        let own = format!("{}Result", request.trim_end_matches("Request"));
        match self.first(&[&own, "EmptyResult", "Result"]) {
            Some(found) => found.to_owned(),
            None => own,
        }
    }

    /// Whether a request of this definition may be answered with questions.
    pub(super) fn may_ask_back(&self, request: &str) -> bool {
        let response = format!("{}ResultResponse", request.trim_end_matches("Request"));
        let results = self.definition(&response).map(|it| &it["properties"]["result"]["anyOf"]);
        let mut results = results.and_then(Value::as_array).into_iter().flatten();
        results.any(|result| target(result) == Some("InputRequiredResult"))
    }

    /// The definition of an error with this code, where it has one of its own.
    pub(super) fn error(&self, code: i64) -> Option<&str> {
        let with_code = |it: &Value| it["properties"]["code"]["const"] == code;
        let found = self.definitions().find(|(_, it)| {
            let parts = it["properties"]["error"]["allOf"].as_array();
            parts.into_iter().flatten().any(with_code)
        });
        found.map(|(name, _)| name.as_str())
    }

    /// What keeps this value from fitting the definition.
    pub(super) fn problems(&self, definition: &str, value: &Value) -> Vec<String> {
        match self.validator(definition) {
            Ok(validator) => validator
                .iter_errors(value)
                .map(|error| format!("{definition}{}: {}", error.instance_path(), error.masked()))
                .collect(),
            Err(error) => vec![format!("{definition}: {error}")],
        }
    }

    fn validator(&self, definition: &str) -> Result<Arc<Validator>, String> {
        let mut made = self.validators.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(validator) = made.get(definition) {
            return Ok(Arc::clone(validator));
        }
        let schema = json!({
            "$schema": self.document["$schema"],
            "allOf": [{ "$ref": format!("#/{}/{definition}", self.key) }],
            self.key: self.document[self.key],
        });
        // Formats are annotations to MCP, and a `uri` may be a template half-way.
        let options = jsonschema::options().should_validate_formats(false);
        let validator = Arc::new(options.build(&schema).map_err(|error| error.to_string())?);
        made.insert(definition.to_owned(), Arc::clone(&validator));
        Ok(validator)
    }
}

/// The name that a `$ref` ends with.
fn target(reference: &Value) -> Option<&str> {
    reference["$ref"].as_str()?.rsplit('/').next()
}

fn has_method(definition: &Value, method: &str) -> bool {
    definition["properties"]["method"]["const"] == method
}

/// The bundled 2025-06-18 and 2025-11-25 say `integer` for the limits of a `number` that somebody
/// is asked for. The published documents have been corrected since.
fn mend_numbers(definitions: &mut Map<String, Value>) {
    let properties = definitions.get_mut("NumberSchema").and_then(|it| it.get_mut("properties"));
    let Some(properties) = properties else { return };
    for limit in ["minimum", "maximum", "default"] {
        if let Some(limit) = properties.get_mut(limit).and_then(Value::as_object_mut) {
            limit.insert("type".to_owned(), "number".into());
        }
    }
}
