//! What is wrong with the files, as it is told.

use serde::{Deserialize, Serialize};
use toolgate_host::{Diagnostic, Severity};

/// One thing that is wrong with a file, or worth knowing about it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// Where and what, on one line.
    pub brief: String,
    /// Where, what, the text it is about, and what to do.
    pub text: String,
}

impl Finding {
    /// An error that is about no place in particular.
    pub fn error(text: String) -> Self {
        Self { severity: Severity::Error, brief: text.clone(), text }
    }

    /// Whether what it speaks of is left out.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl From<&Diagnostic> for Finding {
    fn from(found: &Diagnostic) -> Self {
        let text = found.to_string();
        let brief = text.lines().next().unwrap_or_default().to_owned();
        Self { severity: found.severity, brief, text }
    }
}
