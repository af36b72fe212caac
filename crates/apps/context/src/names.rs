//! What the servers call their things: our own names, or SecondBrain's.
//!
//! Only names differ. Whoever moves from one to the other finds the same tools with the same
//! arguments and results.

/// Whose names are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Names {
    /// `ask`, `toolgate://context/…`.
    #[default]
    Toolgate,
    /// `sb_ask`, `secondbrain://context/…`.
    SecondBrain,
}

impl Names {
    /// The name of a tool of the tools face.
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
        let scheme = match self {
            Self::Toolgate => "toolgate",
            Self::SecondBrain => "secondbrain",
        };
        format!("{scheme}://context/{rest}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_differ() {
        assert_eq!(Names::Toolgate.tool("recall"), "recall");
        assert_eq!(Names::SecondBrain.tool("recall"), "sb_recall");
        assert_eq!(Names::Toolgate.search(), "toolgate://context/search{?query,limit}");
        assert_eq!(Names::SecondBrain.status(), "secondbrain://context/status");
    }
}
