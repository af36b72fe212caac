//! Changes one value in a document and nothing else: comments, order, indentation and line endings
//! of the rest are kept.

mod bracketed_list;
mod json;
mod lines;
mod merge;
mod toml;
mod yaml;

use toolgate_model::{CodedError, ConfigValue, ErrorCode};

use crate::Syntax;

pub(crate) use merge::{get, is_same_value, quote_text};

/// One step of a path into a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PathStep {
    /// The value of this key.
    Key(String),
    /// The item of a list whose field `name` has this value.
    NamedItem(String),
}

/// Why a document could not be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The document has a syntax error.
    #[error("invalid syntax on line {line}: {message}")]
    Syntax {
        /// The line of the error.
        line: u32,
        /// The message of the parser.
        message: String,
    },
    /// A value on the path is neither a table nor a list.
    #[error("expected a table or a list at `{at}`, found {found}")]
    WrongKind {
        /// The path of the value.
        at: String,
        /// The kind of the value.
        found: &'static str,
    },
    /// The layout does not allow the change without affecting the rest.
    #[error("cannot make the change without affecting the rest of the file: {0}")]
    Unsupported(String),
}

impl CodedError for EditError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Syntax { .. } => ErrorCode::ConfigSyntax,
            Self::WrongKind { .. } | Self::Unsupported(_) => ErrorCode::ConfigEdit,
        }
    }
}

/// Sets the value at a path. Existing fields that differ are changed one by one, missing fields are
/// added at the end, and fields that the new value does not have are removed.
pub(crate) fn set(
    syntax: Syntax,
    text: &str,
    path: &[PathStep],
    value: &ConfigValue,
) -> Result<String, EditError> {
    match syntax {
        Syntax::Json => json::set(text, path, value),
        Syntax::Toml => toml::set(text, path, value),
        Syntax::Yaml => yaml::set(text, path, value),
    }
}

/// Removes the value at a path; `None` if there is none.
pub(crate) fn remove(
    syntax: Syntax,
    text: &str,
    path: &[PathStep],
) -> Result<Option<String>, EditError> {
    match syntax {
        Syntax::Json => json::remove(text, path),
        Syntax::Toml => toml::remove(text, path),
        Syntax::Yaml => yaml::remove(text, path),
    }
}
