//! What one server offers, exactly as it describes it.
//!
//! Definitions are kept as the server's own bytes, so that members unknown to the gateway reach the
//! client. Other modules decide which of them a caller sees, and under which name.

use std::sync::Arc;

use bytes::Bytes;
use toolgate_wire::Revision;

use crate::CapabilityKind;

/// The definition of one tool, resource, template or prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The server's own name for it, decoded (a URI for resources, a URI template for templates).
    pub name: Arc<str>,
    /// The definition object, byte for byte.
    pub raw: Bytes,
}

/// Everything one server says about itself and its capabilities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalog {
    /// The revision both sides agreed on.
    pub protocol: Revision,
    /// `capabilities` of the server, raw.
    pub capabilities: Bytes,
    /// `serverInfo`, raw.
    pub server_info: Bytes,
    /// The server's instructions to the model: untrusted text.
    pub instructions: Option<String>,
    /// Tools, in the server's order.
    pub tools: Vec<Definition>,
    /// Resources, in the server's order.
    pub resources: Vec<Definition>,
    /// Resource templates, in the server's order.
    pub templates: Vec<Definition>,
    /// Prompts, in the server's order.
    pub prompts: Vec<Definition>,
}

impl Catalog {
    /// Creates a catalog without definitions.
    pub fn empty(protocol: Revision) -> Self {
        Self {
            protocol,
            capabilities: Bytes::from_static(b"{}"),
            server_info: Bytes::from_static(b"{}"),
            instructions: None,
            tools: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            prompts: Vec::new(),
        }
    }

    /// Returns the definitions of one kind.
    pub fn definitions(&self, kind: CapabilityKind) -> &[Definition] {
        match kind {
            CapabilityKind::Tool => &self.tools,
            CapabilityKind::Resource => &self.resources,
            CapabilityKind::Template => &self.templates,
            CapabilityKind::Prompt => &self.prompts,
            CapabilityKind::Method => &[],
        }
    }

    /// Returns the definitions of one kind for replacement, or `None` for a kind that servers do
    /// not list.
    pub fn definitions_mut(&mut self, kind: CapabilityKind) -> Option<&mut Vec<Definition>> {
        match kind {
            CapabilityKind::Tool => Some(&mut self.tools),
            CapabilityKind::Resource => Some(&mut self.resources),
            CapabilityKind::Template => Some(&mut self.templates),
            CapabilityKind::Prompt => Some(&mut self.prompts),
            CapabilityKind::Method => None,
        }
    }

    /// Returns true if the server declared a capability, by its top-level key (`tools`, `logging`,
    /// …).
    pub fn declares(&self, capability: &str) -> bool {
        toolgate_wire::scan::member(&self.capabilities, capability).is_some()
    }
}
