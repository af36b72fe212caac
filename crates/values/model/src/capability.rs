//! The identity of a capability, the key for all decisions and records.
//!
//! Exposed names are derived from it and looked up; they are never parsed back into it.

use std::fmt;
use std::sync::Arc;

use toolgate_wire::method;

use crate::ServerName;
use crate::is_invisible;

/// The kind of a capability.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum CapabilityKind {
    /// A tool that can be called.
    Tool,
    /// A resource, identified by its URI.
    Resource,
    /// A resource template, identified by its URI template.
    Template,
    /// A prompt template.
    Prompt,
    /// A method of an extension. No list contains it, so it is not in [`CapabilityKind::ALL`].
    Method,
}

impl CapabilityKind {
    /// All kinds that servers list, in the order of listing.
    pub const ALL: [Self; 4] = [Self::Tool, Self::Resource, Self::Template, Self::Prompt];

    /// The number of kinds.
    pub const COUNT: usize = Self::ALL.len() + 1;

    /// Returns the JSON keys of this kind: the member of a list result that holds the definitions,
    /// and the member of a definition that holds its name.
    pub fn json_keys(self) -> (&'static str, &'static str) {
        match self {
            Self::Tool => ("tools", "name"),
            Self::Resource => ("resources", "uri"),
            Self::Template => ("resourceTemplates", "uriTemplate"),
            Self::Prompt => ("prompts", "name"),
            Self::Method => ("methods", "name"),
        }
    }

    /// Returns the method that lists the kind, or `None` for methods of extensions, which no list
    /// contains.
    pub fn list_method(self) -> Option<&'static str> {
        match self {
            Self::Tool => Some(method::TOOLS_LIST),
            Self::Resource => Some(method::RESOURCES_LIST),
            Self::Template => Some(method::RESOURCES_TEMPLATES_LIST),
            Self::Prompt => Some(method::PROMPTS_LIST),
            Self::Method => None,
        }
    }

    /// Returns the kind as a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Template => "template",
            Self::Prompt => "prompt",
            Self::Method => "method",
        }
    }

    /// Parses the kind from its word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().chain([Self::Method]).find(|kind| kind.as_str() == word)
    }
}

impl fmt::Display for CapabilityKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The identity of one capability of one server, under the server's own name for it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CapabilityId {
    /// The server that offers it.
    pub server: ServerName,
    /// The kind.
    pub kind: CapabilityKind,
    /// The server's own name for it: a tool, prompt or method name, a URI or a URI template.
    pub name: Arc<str>,
}

/// The longest name, in bytes, that is not quarantined.
const MAX_NAME_BYTES: usize = 256;

impl CapabilityId {
    /// Returns the reason why this name cannot be shown, if there is one. Such a capability is
    /// quarantined.
    ///
    /// A URI may be longer than a name, but it must not contain invisible characters either.
    pub fn name_problem(&self) -> Option<String> {
        if self.name.is_empty() {
            return Some("its name is empty".into());
        }
        let named = matches!(self.kind, CapabilityKind::Tool | CapabilityKind::Prompt);
        if named && self.name.len() > MAX_NAME_BYTES {
            return Some(format!("its name is {} bytes long", self.name.len()));
        }
        let hidden = self.name.chars().find(|c| is_invisible(*c))?;
        Some(format!("its name holds the invisible character U+{:04X}", hidden as u32))
    }
}

impl fmt::Display for CapabilityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.kind, self.server, self.name)
    }
}
