//! The identity of one thing a server offers: the key everything is decided and recorded on.
//!
//! Exposed names are made from it at the edge and looked up; they are never parsed back into it.

use std::fmt;
use std::sync::Arc;

use crate::ServerName;
use crate::is_invisible;

/// What kind of thing a capability is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CapabilityKind {
    /// Something that can be called.
    Tool,
    /// Something that can be read, named by its URI.
    Resource,
    /// A family of resources, named by its URI template.
    Template,
    /// A prompt that can be filled in.
    Prompt,
    /// A request of an extension. No list names it, so it is none of [`CapabilityKind::ALL`].
    Method,
}

impl CapabilityKind {
    /// All kinds that servers list, in the order they are listed.
    pub const ALL: [Self; 4] = [Self::Tool, Self::Resource, Self::Template, Self::Prompt];

    /// How many kinds there are.
    pub const COUNT: usize = Self::ALL.len() + 1;

    /// How MCP spells a list of them: the member that holds the definitions, and the member of a
    /// definition that names it.
    pub fn members(self) -> (&'static str, &'static str) {
        match self {
            Self::Tool => ("tools", "name"),
            Self::Resource => ("resources", "uri"),
            Self::Template => ("resourceTemplates", "uriTemplate"),
            Self::Prompt => ("prompts", "name"),
            Self::Method => ("methods", "name"),
        }
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Template => "template",
            Self::Prompt => "prompt",
            Self::Method => "method",
        }
    }

    /// The kind with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().chain([Self::Method]).find(|kind| kind.as_str() == word)
    }
}

impl fmt::Display for CapabilityKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One capability of one server, under the server's own name for it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CapabilityId {
    /// Who offers it.
    pub server: ServerName,
    /// What it is.
    pub kind: CapabilityKind,
    /// The server's own name for it: a tool, prompt or method name, a URI or a URI template.
    pub name: Arc<str>,
}

/// The longest raw name, in bytes, that is not quarantined.
const MAX_NAME_BYTES: usize = 256;

impl CapabilityId {
    /// Why this name cannot be shown to anybody, if it cannot: such a capability is quarantined.
    ///
    /// A URI may be longer than a name; it is still refused when it holds invisible characters.
    pub fn unusable(&self) -> Option<String> {
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
