//! When a capability's exposed name begins with the name of its server.
//!
//! The names themselves are made by `rules/naming`; this is only the word the user writes.

/// When an exposed name carries the name of its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Prefix {
    /// Always: a name never changes because another server came or went.
    #[default]
    Always,
    /// Only where two servers would otherwise share a name.
    OnCollision,
    /// Never, as long as names differ: for a single upstream that must look like itself.
    Never,
}

impl Prefix {
    /// All of them, in the order they are documented.
    pub const ALL: [Self; 3] = [Self::Always, Self::OnCollision, Self::Never];

    /// The word for it in configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::OnCollision => "on-collision",
            Self::Never => "never",
        }
    }
}
