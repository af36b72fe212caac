//! Changes one thing in a document and nothing else: comments, order, indentation and line ends of
//! the rest stay as they are.

mod delimited;
mod json;
mod lines;
mod merge;
mod toml;
mod yaml;

use toolgate_model::Data;

use crate::Syntax;

pub(crate) use json::document as json_text;

/// One step on the way to a place in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// The value of this key.
    Key(String),
    /// The item of a list whose field `name` is this.
    Named(String),
}

/// Why a document could not be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// It is no document of its syntax.
    #[error("change it: line {line}: {message}")]
    Syntax {
        /// Where.
        line: u32,
        /// Why.
        message: String,
    },
    /// Something else stands on the way to the place.
    #[error("change it: `{at}` is {found}")]
    InTheWay {
        /// Where.
        at: String,
        /// What stands there.
        found: &'static str,
    },
    /// It is written in a way that cannot be changed without touching the rest.
    #[error("change it without touching the rest: {0}")]
    Unsupported(String),
}

/// Makes the value at a path this one: what is there already and differs is changed, field by
/// field; what is missing is added at the end of its table or list; fields of a table that the new
/// value does not have are removed.
pub(crate) fn set(
    syntax: Syntax,
    text: &str,
    path: &[Step],
    value: &Data,
) -> Result<String, EditError> {
    match syntax {
        Syntax::Json => json::set(text, path, value),
        Syntax::Toml => toml::set(text, path, value),
        Syntax::Yaml => yaml::set(text, path, value),
    }
}

/// Takes away what is at a path; `None` if there is nothing.
pub(crate) fn remove(
    syntax: Syntax,
    text: &str,
    path: &[Step],
) -> Result<Option<String>, EditError> {
    match syntax {
        Syntax::Json => json::remove(text, path),
        Syntax::Toml => toml::remove(text, path),
        Syntax::Yaml => yaml::remove(text, path),
    }
}
