//! The settings of the local context: whether it is offered, and what it holds.

use std::path::PathBuf;

/// When the gateway offers the local context to callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContextOfferMode {
    /// If it is not empty, or no other server exists.
    #[default]
    Auto,
    /// Even if it is empty.
    Always,
    /// Never.
    Never,
}

impl ContextOfferMode {
    /// All values, in the order of the documentation.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Always, Self::Never];

    /// Returns the value as written in configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        }
    }
}

/// The naming of the local context's tools and resources. Both styles have the same tools,
/// arguments and results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContextNamingStyle {
    /// `ask`, `toolgate://context/…`.
    #[default]
    Toolgate,
    /// `sb_ask`, `secondbrain://context/…`.
    SecondBrain,
}

impl ContextNamingStyle {
    /// All values, in the order of the documentation.
    pub const ALL: [Self; 2] = [Self::Toolgate, Self::SecondBrain];

    /// Returns the value as written in configuration, which is also the scheme of its URIs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Toolgate => "toolgate",
            Self::SecondBrain => "secondbrain",
        }
    }

    /// Returns the name of a tool of `toolgate context serve`.
    pub fn tool_name(self, bare: &str) -> String {
        match self {
            Self::Toolgate => bare.to_owned(),
            Self::SecondBrain => format!("sb_{bare}"),
        }
    }

    /// Returns the URI of the help resource.
    pub fn help_uri(self) -> String {
        self.uri("help")
    }

    /// Returns the URI of the status resource.
    pub fn status_uri(self) -> String {
        self.uri("status")
    }

    /// Returns the URI template for searches.
    pub fn search_uri_template(self) -> String {
        self.uri("search{?query,limit}")
    }

    fn uri(self, rest: &str) -> String {
        format!("{}://context/{rest}", self.as_str())
    }
}

/// The settings of the local context, from user or system files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContextSettings {
    /// When callers are offered it.
    pub offer: ContextOfferMode,
    /// The naming of its tools and resources.
    pub names: ContextNamingStyle,
    /// The folders that `serve` keeps it in sync with; absolute paths.
    pub folders: Vec<PathBuf>,
    /// The folders whose text counts as the user's own; absolute paths.
    pub trusted: Vec<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_differ() {
        assert_eq!(ContextNamingStyle::Toolgate.tool_name("recall"), "recall");
        assert_eq!(ContextNamingStyle::SecondBrain.tool_name("recall"), "sb_recall");
        assert_eq!(
            ContextNamingStyle::Toolgate.search_uri_template(),
            "toolgate://context/search{?query,limit}"
        );
        assert_eq!(ContextNamingStyle::SecondBrain.status_uri(), "secondbrain://context/status");
    }
}
