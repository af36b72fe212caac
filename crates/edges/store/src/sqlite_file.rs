//! Opens SQLite files safely: connects while another process creates the file, migrates the schema,
//! and distinguishes damage from other errors.
//!
//! This module does not know the content of the file.

use std::path::Path;
use std::time::{Duration, Instant};

use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use sqlx::{SqlSafeStr as _, Sqlite, Transaction};

use crate::StoreError;

/// How long to wait for another writer.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The pause between two attempts to open a busy file.
const BUSY_PAUSE: Duration = Duration::from_millis(10);

/// The migrations of a schema: number, name, SQL. A released migration never changes.
pub type SchemaMigrations = [(i64, &'static str, &'static str)];

/// Connects, and retries while the file is busy. The first process to open a new file switches it
/// to WAL, and SQLite's busy timeout does not cover that.
pub async fn connect_with_retry(options: &SqliteConnectOptions) -> Result<SqlitePool, sqlx::Error> {
    let deadline = Instant::now() + BUSY_TIMEOUT;
    loop {
        // With one connection, writers of this process queue here instead of finding the file busy.
        // A database in memory lives exactly as long as its only connection.
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_with(options.clone())
            .await;
        match pool {
            Err(error) if is_busy(&error) && Instant::now() < deadline => {
                tokio::time::sleep(BUSY_PAUSE).await;
            }
            outcome => return outcome,
        }
    }
}

/// Applies all missing migrations in this immediate transaction, so that two processes can create
/// the file at the same time.
pub async fn migrate(
    transaction: &mut Transaction<'static, Sqlite>,
    path: &Path,
    steps: &SchemaMigrations,
) -> Result<(), StoreError> {
    let outcome = migrator(steps).run_direct(None, &mut **transaction, false).await;
    outcome.map_err(|error| migration_error(path, steps, error))
}

fn migrator(steps: &SchemaMigrations) -> Migrator {
    let steps = steps.iter().map(|&(version, description, sql)| {
        let kind = MigrationType::Simple;
        Migration::new(version, description.into(), kind, sql.into_sql_str(), false)
    });
    Migrator::with_migrations(steps.collect())
}

fn migration_error(path: &Path, steps: &SchemaMigrations, error: MigrateError) -> StoreError {
    let path = path.to_owned();
    let known = steps.iter().map(|(version, ..)| *version).max().unwrap_or_default();
    match error {
        MigrateError::VersionMissing(found) if found > known => {
            StoreError::NewerSchema { path, found, known }
        }
        MigrateError::Execute(source) | MigrateError::ExecuteMigration(source, _)
            if is_damage(&source) =>
        {
            StoreError::Damaged { path, source }
        }
        source => StoreError::Migrate { path, source },
    }
}

/// Converts the error of a query.
pub fn query_error(action: &'static str, path: &Path, source: sqlx::Error) -> StoreError {
    let path = path.to_owned();
    if is_damage(&source) {
        StoreError::Damaged { path, source }
    } else {
        StoreError::Query { action, path, source }
    }
}

/// Returns true for SQLITE_CORRUPT and SQLITE_NOTADB.
fn is_damage(error: &sqlx::Error) -> bool {
    matches!(result_code(error), Some(11 | 26))
}

/// Returns true for SQLITE_BUSY.
fn is_busy(error: &sqlx::Error) -> bool {
    result_code(error) == Some(5)
}

/// Returns SQLite's primary result code, without the extension.
fn result_code(error: &sqlx::Error) -> Option<u32> {
    let code: u32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}
