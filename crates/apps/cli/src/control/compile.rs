//! Whether what a server's resources hold may become part of the local context.

use serde::{Deserialize, Serialize};
use toolgate_host::{Scope, ServerStatus};

/// What was said of a server by whoever may say it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Compiling {
    /// Whether its resources may be compiled.
    pub allowed: bool,
    /// Whether its text is trusted.
    pub trusted: bool,
    /// Whether a project's file declares it, which can say neither.
    pub proposed: bool,
}

impl Compiling {
    pub(super) fn of(status: &ServerStatus) -> Self {
        Self {
            allowed: status.spec.compile,
            trusted: status.spec.trust,
            proposed: status.origin.scope == Scope::Project,
        }
    }
}
