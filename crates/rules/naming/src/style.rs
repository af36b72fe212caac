//! What decides on names: whose manner, and what is to be named.

use std::sync::Arc;

use toolgate_model::{CapabilityId, Naming, Prefix, ServerName};

/// How names are made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Style {
    /// Whose manner of naming.
    pub naming: Naming,
    /// When a name carries the name of its server, where the naming leaves a choice.
    pub prefix: Prefix,
    /// The servers whose tools and prompts are this program's own (the embedder's, the local
    /// context): they keep their bare names, and win over others of the same name. If two of them
    /// share one, neither has it.
    pub own: Vec<ServerName>,
    /// Names that are the gateway's own: nobody else gets one of them.
    pub reserved: Vec<&'static str>,
}

/// A capability that is to have a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Which.
    pub id: CapabilityId,
    /// What a file calls it instead of its own name.
    pub alias: Option<Arc<str>>,
}

impl From<CapabilityId> for Claim {
    fn from(id: CapabilityId) -> Self {
        Self { id, alias: None }
    }
}

impl From<Prefix> for Style {
    fn from(prefix: Prefix) -> Self {
        Self { prefix, ..Self::default() }
    }
}
