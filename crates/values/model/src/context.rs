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

/// Whose names the tools and resources of the local context have. Whoever moves from one to the
/// other finds the same tools with the same arguments and results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContextNames {
    /// `ask`, `toolgate://context/…`.
    #[default]
    Toolgate,
    /// `sb_ask`, `secondbrain://context/…`.
    SecondBrain,
}

impl ContextNames {
    /// All of them, in the order they are documented.
    pub const ALL: [Self; 2] = [Self::Toolgate, Self::SecondBrain];

    /// The word for it in configuration, and the scheme of its URIs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Toolgate => "toolgate",
            Self::SecondBrain => "secondbrain",
        }
    }

    /// The name of a tool of `toolgate context serve`.
    pub fn tool(self, bare: &str) -> String {
        match self {
            Self::Toolgate => bare.to_owned(),
            Self::SecondBrain => format!("sb_{bare}"),
        }
    }

    /// The URI of what explains the server.
    pub fn help(self) -> String {
        self.uri("help")
    }

    /// The URI of how much there is.
    pub fn status(self) -> String {
        self.uri("status")
    }

    /// The template of searches.
    pub fn search(self) -> String {
        self.uri("search{?query,limit}")
    }

    fn uri(self, rest: &str) -> String {
        format!("{}://context/{rest}", self.as_str())
    }
}

/// What the user, or the system, says of the local context.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContextSettings {
    /// Whether callers are offered it.
    pub offer: Offer,
    /// Whose names its tools and resources have.
    pub names: ContextNames,
    /// Folders that `serve` keeps it up to date with; absolute.
    pub folders: Vec<PathBuf>,
    /// Folders whose text is the user's own word; absolute.
    pub trusted: Vec<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_differ() {
        assert_eq!(ContextNames::Toolgate.tool("recall"), "recall");
        assert_eq!(ContextNames::SecondBrain.tool("recall"), "sb_recall");
        assert_eq!(ContextNames::Toolgate.search(), "toolgate://context/search{?query,limit}");
        assert_eq!(ContextNames::SecondBrain.status(), "secondbrain://context/status");
    }
}
