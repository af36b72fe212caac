//! The errors of this crate.

use std::io;
use std::path::PathBuf;

use sqlx::migrate::MigrateError;

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
    #[error(
        "cannot use {}: the file is damaged or not a database; restore a copy of it, or move it \
         away (consents will be asked for again, documents must be ingested again)",
        path.display()
    )]
    Damaged {
        /// The database.
        path: PathBuf,
        /// The SQLite error.
        source: sqlx::Error,
    },
    /// A newer version of toolgate wrote the database.
    #[error(
        "cannot use {}: a newer toolgate wrote it (its schema is {found}, this version supports \
         {known}); update toolgate or use another home",
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
    /// The journal cannot be written now. Actions that must be recorded first are not possible.
    #[error("cannot write the journal in {}: {why}", path.display())]
    Journal {
        /// The folder of the journal.
        path: PathBuf,
        /// The cause.
        why: String,
    },
    /// A file of the journal cannot be read.
    #[error("cannot read {}", path.display())]
    ReadJournal {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A line of the journal is not a valid record.
    #[error("cannot read line {line} of {}: {what}", path.display())]
    JournalLine {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        what: String,
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
