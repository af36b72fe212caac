//! The settings of the local context: whether it is offered, and what it holds.

use std::path::PathBuf;

use toolgate_wire::words;

words! {
    /// When the gateway offers the local context to callers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum ContextOfferMode {
        /// If it is not empty, or no other server exists.
        #[default]
        Auto = "auto",
        /// Even if it is empty.
        Always = "always",
        /// Never.
        Never = "never",
    }
}

words! {
    /// The naming of the local context's tools and resources. Both styles have the same tools,
    /// arguments and results.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum ContextNamingStyle {
        /// `ask`, `toolgate://context/…`.
        #[default]
        Toolgate = "toolgate",
        /// `sb_ask`, `secondbrain://context/…`.
        SecondBrain = "secondbrain",
    }
}

impl ContextNamingStyle {
    /// Returns the name of a tool of `toolgate context serve`.
    pub fn tool_name(self, bare: &str) -> String {
        match self {
            Self::Toolgate => bare.to_owned(),
            Self::SecondBrain => format!("sb_{bare}"),
        }
    }

    /// Returns the URI of one of the resources, or the URI template of some.
    pub fn uri(self, rest: &str) -> String {
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
            ContextNamingStyle::Toolgate.uri("search{?query,limit}"),
            "toolgate://context/search{?query,limit}"
        );
        assert_eq!(ContextNamingStyle::SecondBrain.uri("status"), "secondbrain://context/status");
    }
}
