//! The error for invalid arguments, worded so that a model can correct them.

use std::fmt;

/// The number of faults in one message; the rest are counted.
const SHOWN: usize = 5;

/// The error for arguments that do not match a tool's input schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ArgumentError {
    /// The faults with their locations. Never empty.
    pub faults: Vec<ArgumentFault>,
}

/// One mismatch between arguments and the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentFault {
    /// A JSON pointer into the arguments; empty for the arguments themselves.
    pub path: String,
    /// What the schema requires there.
    pub expected: String,
    /// The value there; empty if there is none.
    pub got: String,
}

impl ArgumentFault {
    /// Returns true if a required value is missing.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.got.is_empty()
    }
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<String> = self.faults.iter().take(SHOWN).map(ToString::to_string).collect();
        write!(f, "invalid arguments: {}", shown.join("; "))?;
        match self.faults.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

impl fmt::Display for ArgumentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, expected, got } = self;
        if self.is_missing() {
            return write!(f, "missing: {path} ({expected})");
        }
        let path = if path.is_empty() { "the arguments" } else { path };
        write!(f, "{path}: expected {expected}, got {got}")
    }
}
