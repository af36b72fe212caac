//! The errors of the journal.

use std::io;
use std::path::PathBuf;

/// An error that prevents the journal from being read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The journal cannot be written now. Actions that must be recorded first are not possible.
    #[error("cannot write the journal in {}: {why}", path.display())]
    Write {
        /// The folder of the journal.
        path: PathBuf,
        /// The cause.
        why: String,
    },
    /// A file of the journal cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A line of the journal is not a valid record.
    #[error("cannot read line {line} of {}: {what}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        what: String,
    },
}
