//! What is wrong with the files, as it is told.

use serde::{Deserialize, Serialize};
use toolgate_host::{Diagnostic, Severity};

/// One thing that is wrong with a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Finding {
    /// Whether what it speaks of is left out.
    pub fatal: bool,
    /// Where, what, and what to do.
    pub text: String,
}

impl From<&Diagnostic> for Finding {
    fn from(found: &Diagnostic) -> Self {
        Self { fatal: found.severity == Severity::Error, text: found.to_string() }
    }
}
