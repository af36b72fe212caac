//! The error for tool definitions that cannot be used.

use std::fmt;

/// The reason why a tool definition cannot be used, and its location.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct DefinitionError {
    /// A JSON pointer into the definition; empty for the whole definition.
    pub path: String,
    /// What is wrong there.
    pub what: String,
}

/// The longest text of an error, in bytes, since it may quote long values of a server.
const LONGEST: usize = 300;

impl DefinitionError {
    pub(crate) fn new(path: impl Into<String>, what: impl Into<String>) -> Self {
        Self { path: path.into(), what: truncate(&what.into(), LONGEST) }
    }

    /// Prepends `prefix` to the path.
    pub(crate) fn under(self, prefix: &str) -> Self {
        Self { path: format!("{prefix}{}", self.path), ..self }
    }
}

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return f.write_str(&self.what);
        }
        write!(f, "{}: {}", self.path, self.what)
    }
}

/// Truncates a text to at most `longest` bytes and appends an ellipsis if it was longer.
pub(crate) fn truncate(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(longest)])
}
