//! What files say of the local context: whether it is offered, and what it holds.

use std::path::PathBuf;

/// Whether callers of a gateway are offered the local context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Offer {
    /// If it holds something, or no other server is there.
    #[default]
    Auto,
    /// Also if it is empty.
    Always,
    /// Not at all.
    Never,
}

impl Offer {
    /// All of them, in the order they are documented.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Always, Self::Never];

    /// The word for it in configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        }
    }
}

/// What the user, or the system, says of the local context.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContextSettings {
    /// Whether callers are offered it.
    pub offer: Offer,
    /// Folders that `serve` keeps it up to date with; absolute.
    pub folders: Vec<PathBuf>,
    /// Folders whose text is the user's own word; absolute.
    pub trusted: Vec<PathBuf>,
}
