//! The errors of this crate.

use std::io;
use std::path::PathBuf;

use sqlx::migrate::MigrateError;
use toolgate_model::{CodedError, ErrorCode};

/// An error that prevents state from being read or stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file cannot be created or opened.
    #[error("cannot open {}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file is damaged or not a database. It is not changed.
    #[error("cannot use {}: the file is damaged or not a database", path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// The SQLite error.
        source: sqlx::Error,
    },
    /// A newer version of toolgate wrote the database.
    #[error(
        "cannot use {}: a newer toolgate wrote it (its schema is {found}, this version supports \
         {known})",
        path.display()
    )]
    NewerSchema {
        /// The database.
        path: PathBuf,
        /// The schema of the database.
        found: i64,
        /// The newest schema that this version supports.
        known: i64,
    },
    /// The database could not be migrated to the current schema.
    #[error("cannot migrate {} to the current schema", path.display())]
    Migrate {
        /// The database.
        path: PathBuf,
        /// The cause.
        source: MigrateError,
    },
    /// A query failed.
    #[error("cannot {action} in {}", path.display())]
    Query {
        /// The failed action, as a verb phrase.
        action: &'static str,
        /// The database.
        path: PathBuf,
        /// The cause.
        source: sqlx::Error,
    },
    /// A stored or given value is not valid.
    #[error("cannot {action}: {what}")]
    Malformed {
        /// The failed action, as a verb phrase.
        action: &'static str,
        /// What is wrong with the value.
        what: String,
    },
}

impl CodedError for StoreError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Open { .. } => ErrorCode::StoreOpen,
            Self::Damaged { .. } => ErrorCode::StoreDamaged,
            Self::NewerSchema { .. } => ErrorCode::StoreNewer,
            Self::Migrate { .. } | Self::Query { .. } => ErrorCode::StoreQuery,
            Self::Malformed { .. } => ErrorCode::StoreValue,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Open { .. } => "check the permissions of the file and its folder",
            Self::Damaged { .. } => {
                "restore a copy of it, or move it away (consents will be asked for again, \
                 documents must be ingested again)"
            }
            Self::NewerSchema { .. } => "update toolgate, or use another home with --home",
            Self::Migrate { .. } | Self::Query { .. } | Self::Malformed { .. } => return None,
        };
        Some(hint.to_owned())
    }
}
