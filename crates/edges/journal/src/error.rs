//! The errors of the journal.

use std::io;
use std::path::PathBuf;

use toolgate_model::{CodedError, ErrorCode};

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

impl CodedError for JournalError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Write { .. } => ErrorCode::JournalWrite,
            Self::Read { .. } | Self::Line { .. } => ErrorCode::JournalRead,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Write { .. } => "check the free space and the permissions of the folder",
            Self::Read { .. } | Self::Line { .. } => {
                "run `toolgate audit verify` to check the journal"
            }
        };
        Some(hint.to_owned())
    }
}
