//! What one server offers, exactly as it said it.
//!
//! Definitions are kept as the server's own bytes: nothing the gateway does not understand is lost
//! on the way to a client. Which of them a caller sees, and under which name, is decided elsewhere.

use std::sync::Arc;

use bytes::Bytes;
use toolgate_wire::Revision;

use crate::CapabilityKind;

/// One tool, resource, template or prompt as its server defined it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The server's own name (a URI for resources, a URI template for templates), decoded.
    pub name: Arc<str>,
    /// The definition object, byte for byte.
    pub raw: Bytes,
}

/// Everything one server said about itself and what it offers.
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
    /// A server that offers nothing yet.
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

    /// The definitions of one kind.
    pub fn of(&self, kind: CapabilityKind) -> &[Definition] {
        match kind {
            CapabilityKind::Tool => &self.tools,
            CapabilityKind::Resource => &self.resources,
            CapabilityKind::Template => &self.templates,
            CapabilityKind::Prompt => &self.prompts,
            CapabilityKind::Method => &[],
        }
    }

    /// The definitions of one kind, to be replaced; none of a kind that no list holds.
    pub fn of_mut(&mut self, kind: CapabilityKind) -> Option<&mut Vec<Definition>> {
        match kind {
            CapabilityKind::Tool => Some(&mut self.tools),
            CapabilityKind::Resource => Some(&mut self.resources),
            CapabilityKind::Template => Some(&mut self.templates),
            CapabilityKind::Prompt => Some(&mut self.prompts),
            CapabilityKind::Method => None,
        }
    }

    /// Whether the server declared a capability, by its top-level key (`tools`, `logging`, …).
    pub fn declares(&self, capability: &str) -> bool {
        toolgate_wire::scan::member(&self.capabilities, capability).is_some()
    }
}
