//! Errors that concern the local context as a whole. A problem with one document is listed in the
//! report of its ingest and does not stop the others.

use std::io;
use std::path::PathBuf;

use toolgate_model::{CodedError, ErrorCode};
use toolgate_store::StoreError;

/// An error of the local context.
#[derive(Debug, thiserror::Error)]
pub enum ContextError {
    /// The library file failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A path given by the user cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Path {
        /// The path as the user gave it.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A path given by the user is not valid UTF-8 and cannot be stored.
    #[error("cannot read `{}`: its name is not valid UTF-8", path.display())]
    Name {
        /// The path as the user gave it.
        path: PathBuf,
    },
    /// A given text or resource cannot be ingested.
    #[error("cannot ingest `{name}`: {why}")]
    Text {
        /// The name of the text, or the URI of the resource.
        name: String,
        /// The reason.
        why: String,
    },
    /// A worker thread or task failed.
    #[error("a worker of the ingest failed: {0}")]
    Worker(String),
}

impl CodedError for ContextError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Store(error) => error.code(),
            Self::Path { .. } | Self::Name { .. } => ErrorCode::ContextFile,
            Self::Text { .. } => ErrorCode::ContextText,
            Self::Worker(_) => ErrorCode::CliInternal,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Store(error) => error.hint(),
            _ => None,
        }
    }
}
