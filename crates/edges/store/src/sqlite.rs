//! State in one SQLite file: opens it safely and implements [`StateStore`].
//!
//! Several processes may open the file (a gateway and a CLI command). Every write is one immediate
//! transaction, and a process waits while the file is busy. A file that is damaged or too new is
//! reported and never changed.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqliteSynchronous};
use sqlx::{Sqlite, Transaction};
use toolgate_model::{Catalog, Digest, ServerName};
use toolgate_wire::Era;

use crate::sqlite_file::{self, BUSY_TIMEOUT, connect_with_retry, query_error};
use crate::{Consent, DetectedEra, SavedCatalog, ServerTrust, StateStore, StoreError, StoreFuture};
use crate::{attempts, catalogs, consents, eras, private_files, trusts};

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

/// A store in a SQLite database. Cheap to clone.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    pool: SqlitePool,
    path: PathBuf,
}

impl SqliteStore {
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
        let pool = connect_with_retry(&options)
            .await
            .map_err(|source| query_error("open the state", &path, source))?;
        let state = Self { pool, path };
        state.migrate().await?;
        Ok(state)
    }

    async fn migrate(&self) -> Result<(), StoreError> {
        let mut transaction = self.begin("migrate the state").await?;
        sqlite_file::migrate(&mut transaction, &self.path, &MIGRATIONS).await?;
        self.commit("migrate the state", transaction).await
    }

    /// Closes the database after all writes are in its main file.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    pub(crate) fn pool(&self) -> &SqlitePool {
        &self.pool
    }

    pub(crate) async fn begin(
        &self,
        action: &'static str,
    ) -> Result<Transaction<'static, Sqlite>, StoreError> {
        let begun = self.pool.begin_with("BEGIN IMMEDIATE").await;
        begun.map_err(|source| self.query_error(action, source))
    }

    pub(crate) async fn commit(
        &self,
        action: &'static str,
        transaction: Transaction<'static, Sqlite>,
    ) -> Result<(), StoreError> {
        transaction.commit().await.map_err(|source| self.query_error(action, source))
    }

    pub(crate) fn query_error(&self, action: &'static str, source: sqlx::Error) -> StoreError {
        query_error(action, &self.path, source)
    }
}

/// Returns the current time in milliseconds since 1970, the format of all stored times.
pub fn now_millis() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Converts stored milliseconds to a time.
pub(crate) fn time_from_millis(millis: i64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}

impl StateStore for SqliteStore {
    fn give_consent<'a>(
        &'a self,
        server: &'a ServerName,
        digest: &'a Digest,
        shown: &'a str,
    ) -> StoreFuture<'a, ()> {
        Box::pin(consents::give(self, server, digest, shown))
    }

    fn revoke_consents<'a>(&'a self, server: &'a ServerName) -> StoreFuture<'a, bool> {
        Box::pin(consents::revoke(self, server))
    }

    fn consents(&self) -> StoreFuture<'_, Vec<Consent>> {
        Box::pin(consents::all(self))
    }

    fn save_trust<'a>(&'a self, server: &'a ServerName, digest: &'a Digest) -> StoreFuture<'a, ()> {
        Box::pin(trusts::save(self, server, digest))
    }

    fn revoke_trust<'a>(&'a self, server: &'a ServerName) -> StoreFuture<'a, bool> {
        Box::pin(trusts::revoke(self, server))
    }

    fn trusts(&self) -> StoreFuture<'_, Vec<ServerTrust>> {
        Box::pin(trusts::all(self))
    }

    fn save_catalog<'a>(
        &'a self,
        server: &'a ServerName,
        spec: &'a Digest,
        catalog: &'a Catalog,
    ) -> StoreFuture<'a, ()> {
        Box::pin(catalogs::save(self, server, spec, catalog))
    }

    fn catalog<'a>(
        &'a self,
        server: &'a ServerName,
        spec: &'a Digest,
    ) -> StoreFuture<'a, Option<SavedCatalog>> {
        Box::pin(catalogs::load(self, server, spec))
    }

    fn forget_catalogs<'a>(&'a self, server: &'a ServerName) -> StoreFuture<'a, bool> {
        Box::pin(catalogs::forget(self, server))
    }

    fn save_era<'a>(&'a self, spec: &'a Digest, era: Option<Era>) -> StoreFuture<'a, ()> {
        match era {
            Some(era) => Box::pin(eras::save(self, spec, era)),
            None => Box::pin(eras::forget(self, spec)),
        }
    }

    fn era<'a>(&'a self, spec: &'a Digest) -> StoreFuture<'a, Option<DetectedEra>> {
        Box::pin(eras::load(self, spec))
    }

    fn count_attempt<'a>(&'a self, spec: &'a Digest) -> StoreFuture<'a, u32> {
        Box::pin(attempts::count(self, spec))
    }
}
