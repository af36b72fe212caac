//! Why arguments do not fit, said so that a model can put them right.

use std::fmt;

/// Faults said in one message; the rest are counted.
const SHOWN: usize = 5;

/// Arguments that do not fit a tool's input schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Misfit {
    /// What does not fit, each with its place. Never empty.
    pub faults: Vec<Fault>,
}

/// One thing that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// JSON pointer into the arguments; empty for the arguments themselves.
    pub path: String,
    /// What the schema asks for there.
    pub expected: String,
    /// What stands there; empty if nothing does.
    pub got: String,
}

impl Fault {
    /// Whether the fault is that nothing stands there.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.got.is_empty()
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("arguments do not fit: ")?;
        for (index, fault) in self.faults.iter().take(SHOWN).enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{fault}")?;
        }
        match self.faults.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, expected, got } = self;
        if self.is_missing() {
            return write!(f, "missing: {path} ({expected})");
        }
        let path = if path.is_empty() { "the arguments" } else { path };
        write!(f, "{path}: expected {expected}, got {got}")
    }
}
