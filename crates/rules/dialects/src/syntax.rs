//! The syntaxes of documents. Each is parsed into the common tree.

mod json;
mod toml;
pub(crate) mod yaml;

use crate::common::tree::{SyntaxError, TreeMember};

pub(crate) use json::parse_value as parse_json;
pub(crate) use toml::parse_document as parse_toml;

/// The syntax of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// JSON, with comments and trailing commas.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

impl Syntax {
    /// Parses a whole document into its members; an empty document has none.
    pub(crate) fn parse(self, text: &str) -> Result<Vec<TreeMember>, SyntaxError> {
        match self {
            Self::Json => json::parse(text),
            Self::Toml => toml::parse(text),
            Self::Yaml => yaml::parse(text),
        }
    }

    /// Detects the syntax of a file by its extension, else by the beginning of its text.
    pub fn detect(path: &std::path::Path, text: &str) -> Self {
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("toml") => Self::Toml,
            Some("json" | "jsonc" | "json5") => Self::Json,
            Some("yaml" | "yml") => Self::Yaml,
            _ if text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '/']) => {
                Self::Json
            }
            _ if text.lines().any(|line| line.starts_with('[') || line.contains(" = ")) => {
                Self::Toml
            }
            _ if text.lines().any(|line| line.trim_end().ends_with(':')) => Self::Yaml,
            _ => Self::Toml,
        }
    }
}
