//! The setting that decides when an exposed name starts with the name of its server.
//!
//! `rules/naming` makes the names; this is only the configured value.

/// When an exposed name starts with the name of its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PrefixMode {
    /// Always, so that a name never changes because another server was added or removed.
    #[default]
    Always,
    /// Only where two servers would otherwise share a name.
    OnCollision,
    /// Never, unless two names collide: for a single upstream server whose names must stay as they
    /// are.
    Never,
}

impl PrefixMode {
    /// All values, in the order of the documentation.
    pub const ALL: [Self; 3] = [Self::Always, Self::OnCollision, Self::Never];

    /// Returns the value as written in configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::OnCollision => "on-collision",
            Self::Never => "never",
        }
    }
}
