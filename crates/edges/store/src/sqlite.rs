//! The state store: one SQLite file, opened safely, and the helpers that its tables share.
//!
//! Several processes may open the file (a gateway and a CLI command). Every write is one immediate
//! transaction, and a process waits while the file is busy. A file that is damaged or too new is
//! reported and never changed.

use std::path::PathBuf;
use std::time::SystemTime;

use sqlx::query::Query;
use sqlx::sqlite::{
    SqliteArguments, SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqliteRow,
    SqliteSynchronous,
};
use sqlx::{Sqlite, Transaction};
use toolgate_model::time;

use crate::sqlite_file::{self, BUSY_TIMEOUT, connect_with_retry, query_error};
use crate::{StoreError, private_files};

/// The migrations of the schema. A released migration never changes.
const MIGRATIONS: [(i64, &str, &str); 7] = [
    (
        1,
        "consents and catalogs",
        include_str!("../migrations/sqlite/0001_consents_and_catalogs.sql"),
    ),
    (2, "eras", include_str!("../migrations/sqlite/0002_eras.sql")),
    (3, "trusts", include_str!("../migrations/sqlite/0003_trusts.sql")),
    (4, "attempts", include_str!("../migrations/sqlite/0004_attempts.sql")),
    (5, "decisions", include_str!("../migrations/sqlite/0005_decisions.sql")),
    (6, "keys", include_str!("../migrations/sqlite/0006_keys.sql")),
    (7, "other params", include_str!("../migrations/sqlite/0007_other_params.sql")),
];

/// A statement with its parameters.
pub(crate) type SqlQuery = Query<'static, Sqlite, SqliteArguments>;

/// Reads a value from a row.
pub(crate) type RowReader<T> = fn(&SqliteRow) -> Result<T, sqlx::Error>;

/// The state that survives a restart, in a SQLite database. A completed write is on disk. Cheap to
/// clone.
#[derive(Debug, Clone)]
pub struct StateStore {
    pool: SqlitePool,
    path: PathBuf,
}

impl StateStore {
    /// Opens the database at `path`. Creates it or migrates it to the current schema.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path = path.into();
        private_files::ensure_file(&path)
            .map_err(|source| StoreError::Open { path: path.clone(), source })?;
        let options =
            SqliteConnectOptions::new().filename(&path).journal_mode(SqliteJournalMode::Wal);
        Self::connect(path, options).await
    }

    /// Creates a database in memory, for tests and for hosts without persistent state.
    pub async fn in_memory() -> Result<Self, StoreError> {
        Self::connect("(memory)".into(), SqliteConnectOptions::new().in_memory(true)).await
    }

    async fn connect(path: PathBuf, options: SqliteConnectOptions) -> Result<Self, StoreError> {
        let options = options
            .busy_timeout(BUSY_TIMEOUT)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true);
        let failed = |source| query_error("open the state", &path, source);
        let pool = connect_with_retry(&options).await.map_err(failed)?;
        let state = Self { pool, path };
        let action = "migrate the state";
        let mut transaction = state.named(action, state.begin().await)?;
        sqlite_file::migrate(&mut transaction, &state.path, &MIGRATIONS).await?;
        state.named(action, transaction.commit().await)?;
        Ok(state)
    }

    /// Closes the database after all writes are in its main file.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    /// Returns a number that changes when another process may have changed the store. Writes
    /// through this value need not change it.
    pub async fn change_counter(&self) -> Result<u64, StoreError> {
        // SQLite counts the commits of other connections. This process has only one connection.
        let query = sqlx::query_scalar::<_, i64>("pragma data_version");
        let version = query.fetch_one(&self.pool).await;
        self.named("check for changes", version).map(i64::unsigned_abs)
    }

    pub(crate) fn pool(&self) -> &SqlitePool {
        &self.pool
    }

    /// Begins a transaction that waits for other writers.
    pub(crate) async fn begin(&self) -> Result<Transaction<'static, Sqlite>, sqlx::Error> {
        self.pool.begin_with("BEGIN IMMEDIATE").await
    }

    /// Adds the failed action and the path to an error of the database.
    pub(crate) fn named<T>(
        &self,
        action: &'static str,
        outcome: Result<T, sqlx::Error>,
    ) -> Result<T, StoreError> {
        outcome.map_err(|error| match error {
            sqlx::Error::Decode(what) | sqlx::Error::Encode(what) => {
                StoreError::Malformed { action, what: what.to_string() }
            }
            source => query_error(action, &self.path, source),
        })
    }

    /// Runs several statements as one action.
    pub(crate) async fn run<T>(
        &self,
        action: &'static str,
        work: impl Future<Output = Result<T, sqlx::Error>>,
    ) -> Result<T, StoreError> {
        self.named(action, work.await)
    }

    /// Runs one statement. Returns the number of changed rows.
    pub(crate) async fn execute(
        &self,
        action: &'static str,
        query: SqlQuery,
    ) -> Result<u64, StoreError> {
        let done = self.named(action, query.execute(&self.pool).await)?;
        Ok(done.rows_affected())
    }

    /// Returns the values of all rows.
    pub(crate) async fn list<T>(
        &self,
        action: &'static str,
        query: SqlQuery,
        read: RowReader<T>,
    ) -> Result<Vec<T>, StoreError> {
        let rows = self.named(action, query.fetch_all(&self.pool).await)?;
        self.named(action, rows.iter().map(read).collect())
    }

    /// Returns the value of the first row.
    pub(crate) async fn find<T>(
        &self,
        action: &'static str,
        query: SqlQuery,
        read: RowReader<T>,
    ) -> Result<Option<T>, StoreError> {
        let row = self.named(action, query.fetch_optional(&self.pool).await)?;
        self.named(action, row.as_ref().map(read).transpose())
    }
}

/// Returns the current time in milliseconds since 1970, the format of all stored times.
pub fn now_millis() -> i64 {
    to_millis(SystemTime::now())
}

/// Returns a time in milliseconds since 1970.
pub(crate) fn to_millis(time: SystemTime) -> i64 {
    time::to_millis(time).cast_signed()
}

/// Converts stored milliseconds to a time.
pub(crate) fn time_from_millis(millis: i64) -> SystemTime {
    time::from_millis(u64::try_from(millis).unwrap_or(0))
}
