//! The setting that decides when an exposed name starts with the name of its server.
//!
//! `rules/naming` makes the names; this is only the configured value.

use toolgate_wire::words;

words! {
    /// When an exposed name starts with the name of its server.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum PrefixMode {
        /// Always, so that a name never changes because another server was added or removed.
        #[default]
        Always = "always",
        /// Only where two servers would otherwise share a name.
        OnCollision = "on-collision",
        /// Never, unless two names collide: for a single upstream server whose names must stay as
        /// they are.
        Never = "never",
    }
}
