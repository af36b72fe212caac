//! What can fail here. Messages read after "failed to".

use std::io;
use std::path::PathBuf;

use sqlx::migrate::MigrateError;

/// Why state could not be read or kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file cannot be created or opened at all.
    #[error("open {}", path.display())]
    Open {
        /// The database.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is not a database, or a damaged one. It is left as it is.
    #[error(
        "use {}: the file is damaged or no database; restore a copy of it, or move it away \
         (consents will be asked for again, documents must be ingested again)",
        path.display()
    )]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        source: sqlx::Error,
    },
    /// A newer version of toolgate wrote it.
    #[error(
        "use {}: a newer toolgate wrote it (schema {found}, this one knows {known}); \
         update toolgate or name another home",
        path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// The schema it has.
        found: i64,
        /// The newest schema this version knows.
        known: i64,
    },
    /// It could not be brought to the current schema.
    #[error("bring {} to the current schema", path.display())]
    Migrate {
        /// The database.
        path: PathBuf,
        /// Why.
        source: MigrateError,
    },
    /// A query failed.
    #[error("{action} in {}", path.display())]
    Query {
        /// What was being done.
        action: &'static str,
        /// The database.
        path: PathBuf,
        /// Why.
        source: sqlx::Error,
    },
    /// The journal cannot be written now. What must be on record first cannot happen.
    #[error("write the journal in {}: {why}", path.display())]
    Journal {
        /// The folder of it.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A file of the journal cannot be read.
    #[error("read {}", path.display())]
    ReadJournal {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line of the journal is no record.
    #[error("read line {line} of {}: {what}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        what: String,
    },
    /// A stored or given value is not what it should be.
    #[error("{action}: {what}")]
    Malformed {
        /// What was being done.
        action: &'static str,
        /// What is wrong with the value.
        what: String,
    },
}
