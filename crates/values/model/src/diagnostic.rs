//! Something worth telling a person about what he wrote: where, what, and what to do.

use std::fmt;

use crate::Origin;

/// How bad it is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// As it should be, for whoever wonders why it is so.
    Note,
    /// Worth a look; nothing is left out.
    Warning,
    /// What it speaks of is left out.
    Error,
}

/// One finding about one place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Where it was found.
    pub origin: Origin,
    /// The text it speaks of, where there is one.
    pub excerpt: Option<Excerpt>,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// A piece of a line of a file, with the part that matters. Values that could be credentials are
/// left out by whoever makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The text, on one line.
    pub text: String,
    /// How many columns of a terminal stand before the part that matters: a wide character takes two.
    pub from: usize,
    /// How many columns that part takes.
    pub width: usize,
}

impl Diagnostic {
    /// The excerpt with its line number before it and its part underlined, two lines.
    pub fn underlined(&self) -> Option<String> {
        let Excerpt { text, from, width } = self.excerpt.as_ref()?;
        let line = self.origin.line.to_string();
        let (margin, marks) = (" ".repeat(line.len()), "^".repeat((*width).max(1)));
        Some(format!("  {line} | {text}\n  {margin} | {}{marks}", " ".repeat(*from)))
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{}: {severity}: {}", self.origin, self.message)?;
        if let Some(underlined) = self.underlined() {
            write!(f, "\n{underlined}")?;
        }
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}
