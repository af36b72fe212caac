//! Diagnostics about configuration: where, what, and what to do.

use std::fmt;

use toolgate_wire::words;

use crate::{ErrorCode, Origin, ServerName};

words! {
    /// The severity of a diagnostic.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    #[derive(serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum DiagnosticSeverity {
        /// Nothing is wrong; explains why something is the way it is.
        Note = "note",
        /// Possibly wrong; nothing is left out.
        Warning = "warning",
        /// An error; the item it concerns is left out.
        Error = "error",
    }
}

/// One diagnostic about one position in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How severe it is.
    pub severity: DiagnosticSeverity,
    /// What kind of problem it is.
    pub code: ErrorCode,
    /// The server it concerns, if it concerns one.
    pub server: Option<ServerName>,
    /// The position.
    pub origin: Origin,
    /// The text it concerns, if there is one.
    pub excerpt: Option<DiagnosticExcerpt>,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// A part of a line of a file, with the relevant columns. The caller that makes it leaves out
/// values that could be credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiagnosticExcerpt {
    /// The text, on one line.
    pub text: String,
    /// The number of terminal columns before the relevant part. A wide character takes two.
    pub from: usize,
    /// The width of the relevant part in columns.
    pub width: usize,
}

impl Diagnostic {
    /// Returns a warning without a server, an excerpt or a hint.
    pub fn warning(code: ErrorCode, origin: Origin, message: impl Into<String>) -> Self {
        let (severity, message) = (DiagnosticSeverity::Warning, message.into());
        Self { severity, code, server: None, origin, excerpt: None, message, hint: None }
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Names the server that it concerns.
    #[must_use]
    pub fn about(self, server: &ServerName) -> Self {
        Self { server: Some(server.clone()), ..self }
    }

    /// Sets the severity.
    #[must_use]
    pub fn severity(self, severity: DiagnosticSeverity) -> Self {
        Self { severity, ..self }
    }

    /// Returns the excerpt as two lines, with its line number and the relevant part underlined.
    pub fn render_excerpt(&self) -> Option<String> {
        let DiagnosticExcerpt { text, from, width } = self.excerpt.as_ref()?;
        let line = self.origin.line.to_string();
        let (margin, marks) = (" ".repeat(line.len()), "^".repeat((*width).max(1)));
        Some(format!("  {line} | {text}\n  {margin} | {}{marks}", " ".repeat(*from)))
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.origin, self.severity, self.message)?;
        if let Some(underlined) = self.render_excerpt() {
            write!(f, "\n{underlined}")?;
        }
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}
