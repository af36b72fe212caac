//! Opening a SQLite file safely, for all that is kept in one: connecting while another process
//! creates it, bringing it to the current schema, and telling damage from other failures.
//!
//! What stands in the file is for its owner to know.

use std::path::Path;
use std::time::{Duration, Instant};

use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use sqlx::{SqlSafeStr as _, Sqlite, Transaction};

use crate::StoreError;

/// How long to wait for another writer.
pub(crate) const BUSY: Duration = Duration::from_secs(10);

/// How long to pause between two tries to open a busy file.
const BUSY_PAUSE: Duration = Duration::from_millis(10);

/// A schema step by step: number, name, SQL. A step that was released is never changed.
pub(crate) type Steps = [(i64, &'static str, &'static str)];

/// Connects, again and again while the file is busy: the first who opens a new file switches it to
/// WAL, and SQLite lets nobody wait for that.
pub(crate) async fn connected(options: &SqliteConnectOptions) -> Result<SqlitePool, sqlx::Error> {
    let deadline = Instant::now() + BUSY;
    loop {
        // One connection: writers queue here instead of finding the file busy, and a database in
        // memory lives exactly as long as its only connection.
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

/// Takes all steps that are missing, in this immediate transaction: two processes that create the
/// file at the same time do not meet half-way.
pub(crate) async fn migrate(
    transaction: &mut Transaction<'static, Sqlite>,
    path: &Path,
    steps: &Steps,
) -> Result<(), StoreError> {
    let outcome = migrator(steps).run_direct(None, &mut **transaction, false).await;
    outcome.map_err(|error| not_migrated(path, steps, error))
}

fn migrator(steps: &Steps) -> Migrator {
    let steps = steps.iter().map(|&(version, description, sql)| {
        let kind = MigrationType::Simple;
        Migration::new(version, description.into(), kind, sql.into_sql_str(), false)
    });
    Migrator::with_migrations(steps.collect())
}

fn not_migrated(path: &Path, steps: &Steps, error: MigrateError) -> StoreError {
    let path = path.to_owned();
    let known = steps.iter().map(|(version, ..)| *version).max().unwrap_or_default();
    match error {
        MigrateError::VersionMissing(found) if found > known => {
            StoreError::Newer { path, found, known }
        }
        MigrateError::Execute(source) | MigrateError::ExecuteMigration(source, _)
            if is_damage(&source) =>
        {
            StoreError::Damaged { path, source }
        }
        source => StoreError::Migrate { path, source },
    }
}

/// A failed query, as the store's error.
pub(crate) fn failed(action: &'static str, path: &Path, source: sqlx::Error) -> StoreError {
    let path = path.to_owned();
    if is_damage(&source) {
        StoreError::Damaged { path, source }
    } else {
        StoreError::Query { action, path, source }
    }
}

/// SQLITE_CORRUPT and SQLITE_NOTADB.
fn is_damage(error: &sqlx::Error) -> bool {
    matches!(result_code(error), Some(11 | 26))
}

/// SQLITE_BUSY.
fn is_busy(error: &sqlx::Error) -> bool {
    result_code(error) == Some(5)
}

/// SQLite's primary result code, whatever the extended one adds.
fn result_code(error: &sqlx::Error) -> Option<u32> {
    let code: u32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}
