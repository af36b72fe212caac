//! Whether resources of a server may be compiled into the local context.

use serde::{Deserialize, Serialize};
use toolgate_host::{ConfigScope, ServerStatus};

/// The compile settings of a server.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct ResourceCompilePermission {
    /// Whether its resources may be compiled.
    pub allowed: bool,
    /// Whether its text is trusted.
    pub trusted: bool,
    /// Whether a project file declares it; such files cannot set either of these.
    pub proposed: bool,
}

impl ResourceCompilePermission {
    pub(super) fn of(status: &ServerStatus) -> Self {
        Self {
            allowed: status.spec.compile,
            trusted: status.spec.trust,
            proposed: status.origin.scope == ConfigScope::Project,
        }
    }
}
