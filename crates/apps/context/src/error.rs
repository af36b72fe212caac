//! What can go wrong with the local context as a whole. What is wrong with one document is said in
//! the report of its run, and stops nothing.

use std::io;
use std::path::PathBuf;

use toolgate_store::StoreError;

/// Why something could not be done with the local context.
#[derive(Debug, thiserror::Error)]
pub enum ContextError {
    /// The file that holds it failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A path that was named cannot be read at all.
    #[error("read `{}`: {source}", path.display())]
    Path {
        /// The path as it was named.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A path that was named is no text, and so its name cannot be kept.
    #[error("read `{}`: its name is not valid UTF-8", path.display())]
    Name {
        /// The path as it was named.
        path: PathBuf,
    },
    /// A text that was handed over has nothing to keep.
    #[error("take in `{name}`: {why}")]
    Text {
        /// What it was called.
        name: String,
        /// Why.
        why: String,
    },
    /// A part of this program failed.
    #[error("finish a piece of work: {0}")]
    Worker(String),
}
