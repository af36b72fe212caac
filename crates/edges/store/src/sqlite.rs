//! State in one SQLite file: opening it safely, and the engine's side of [`State`].
//!
//! Several processes may have it open (a gateway and a verb beside it): every write is one
//! immediate transaction, and whoever finds the file busy waits. A file that is damaged or too new
//! is reported and never changed.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqliteSynchronous};
use sqlx::{Sqlite, Transaction};
use toolgate_model::{Catalog, Digest, ServerName};
use toolgate_wire::Era;

use crate::opening::{self, BUSY, connected, failed};
use crate::{Answer, Consent, FoundEra, SavedCatalog, State, StoreError, Trust};
use crate::{attempts, catalogs, consents, eras, private, trusts};

/// The schema, step by step. A step that was released is never changed.
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

/// State in a SQLite database.
#[derive(Debug, Clone)]
pub struct SqliteState {
    pool: SqlitePool,
    path: PathBuf,
}

impl SqliteState {
    /// Opens the database at `path`, creating it or bringing it to the current schema.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path = path.into();
        private::ensure(&path).map_err(|source| StoreError::Open { path: path.clone(), source })?;
        let options =
            SqliteConnectOptions::new().filename(&path).journal_mode(SqliteJournalMode::Wal);
        Self::connect(path, options).await
    }

    /// A database that ends with this value: for tests and for hosts that keep nothing.
    pub async fn in_memory() -> Result<Self, StoreError> {
        Self::connect("(memory)".into(), SqliteConnectOptions::new().in_memory(true)).await
    }

    async fn connect(path: PathBuf, options: SqliteConnectOptions) -> Result<Self, StoreError> {
        let options =
            options.busy_timeout(BUSY).synchronous(SqliteSynchronous::Full).foreign_keys(true);
        let pool =
            connected(&options).await.map_err(|source| failed("open the state", &path, source))?;
        let state = Self { pool, path };
        state.migrate().await?;
        Ok(state)
    }

    async fn migrate(&self) -> Result<(), StoreError> {
        let mut transaction = self.begin("bring the state to the current schema").await?;
        opening::migrate(&mut transaction, &self.path, &MIGRATIONS).await?;
        self.commit("bring the state to the current schema", transaction).await
    }

    /// Closes the database, everything written into its one file.
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
        begun.map_err(|source| self.failed(action, source))
    }

    pub(crate) async fn commit(
        &self,
        action: &'static str,
        transaction: Transaction<'static, Sqlite>,
    ) -> Result<(), StoreError> {
        transaction.commit().await.map_err(|source| self.failed(action, source))
    }

    pub(crate) fn failed(&self, action: &'static str, source: sqlx::Error) -> StoreError {
        failed(action, &self.path, source)
    }
}

/// Milliseconds since 1970, as all times are stored.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The time behind stored milliseconds.
pub(crate) fn time(millis: i64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}

impl State for SqliteState {
    fn grant<'a>(
        &'a self,
        server: &'a ServerName,
        digest: &'a Digest,
        shown: &'a str,
    ) -> Answer<'a, ()> {
        Box::pin(consents::grant(self, server, digest, shown))
    }

    fn revoke<'a>(&'a self, server: &'a ServerName) -> Answer<'a, bool> {
        Box::pin(consents::revoke(self, server))
    }

    fn consents(&self) -> Answer<'_, Vec<Consent>> {
        Box::pin(consents::all(self))
    }

    fn trust<'a>(&'a self, server: &'a ServerName, digest: &'a Digest) -> Answer<'a, ()> {
        Box::pin(trusts::trust(self, server, digest))
    }

    fn distrust<'a>(&'a self, server: &'a ServerName) -> Answer<'a, bool> {
        Box::pin(trusts::distrust(self, server))
    }

    fn trusts(&self) -> Answer<'_, Vec<Trust>> {
        Box::pin(trusts::all(self))
    }

    fn save_catalog<'a>(
        &'a self,
        server: &'a ServerName,
        spec: &'a Digest,
        catalog: &'a Catalog,
    ) -> Answer<'a, ()> {
        Box::pin(catalogs::save(self, server, spec, catalog))
    }

    fn catalog<'a>(
        &'a self,
        server: &'a ServerName,
        spec: &'a Digest,
    ) -> Answer<'a, Option<SavedCatalog>> {
        Box::pin(catalogs::load(self, server, spec))
    }

    fn forget_catalogs<'a>(&'a self, server: &'a ServerName) -> Answer<'a, bool> {
        Box::pin(catalogs::forget(self, server))
    }

    fn save_era<'a>(&'a self, spec: &'a Digest, era: Option<Era>) -> Answer<'a, ()> {
        match era {
            Some(era) => Box::pin(eras::save(self, spec, era)),
            None => Box::pin(eras::forget(self, spec)),
        }
    }

    fn era<'a>(&'a self, spec: &'a Digest) -> Answer<'a, Option<FoundEra>> {
        Box::pin(eras::load(self, spec))
    }

    fn note_attempt<'a>(&'a self, spec: &'a Digest) -> Answer<'a, u32> {
        Box::pin(attempts::note(self, spec))
    }
}
