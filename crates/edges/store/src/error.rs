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
         (consents will be asked for again)",
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
    /// A stored or given value is not what it should be.
    #[error("{action}: {what}")]
    Malformed {
        /// What was being done.
        action: &'static str,
        /// What is wrong with the value.
        what: String,
    },
}
