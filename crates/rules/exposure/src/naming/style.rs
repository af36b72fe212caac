//! Naming options and claims.

use std::sync::Arc;

use toolgate_model::{CapabilityId, NamingStyle, PrefixMode, ServerName};

/// How names are made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamingOptions {
    /// The naming style.
    pub naming: NamingStyle,
    /// When a name contains its server's name, if the style leaves a choice.
    pub prefix: PrefixMode,
    /// The servers of this program itself (the embedder's, the local context). Their tools and
    /// prompts keep their bare names and win over others. If two of them share a name, neither gets
    /// it.
    pub own: Vec<ServerName>,
    /// Names that are reserved for the gateway.
    pub reserved: Vec<&'static str>,
}

/// A capability that needs a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameClaim {
    /// The capability.
    pub id: CapabilityId,
    /// The alias from the configuration.
    pub alias: Option<Arc<str>>,
}
