//! Findings about config files, formatted for output.

use serde::{Deserialize, Serialize};
use toolgate_host::{Diagnostic, DiagnosticSeverity};

/// An error, warning or note about a config file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ConfigFinding {
    /// Its severity.
    pub severity: DiagnosticSeverity,
    /// Position and message, on one line.
    pub brief: String,
    /// Position, message, excerpt of the file and hint.
    pub text: String,
}

impl ConfigFinding {
    /// Returns an error without a position.
    pub fn error(text: String) -> Self {
        Self { severity: DiagnosticSeverity::Error, brief: text.clone(), text }
    }

    /// Returns true if it is an error, so that the entry concerned is ignored.
    pub fn is_error(&self) -> bool {
        self.severity == DiagnosticSeverity::Error
    }
}

impl From<&Diagnostic> for ConfigFinding {
    fn from(found: &Diagnostic) -> Self {
        let text = found.to_string();
        let brief = text.lines().next().unwrap_or_default().to_owned();
        Self { severity: found.severity, brief, text }
    }
}
