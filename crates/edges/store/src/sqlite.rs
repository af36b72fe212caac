//! State in one SQLite file: opening it safely, and the engine's side of [`State`].
//!
//! Several processes may have it open (a gateway and a verb beside it): every write is one
//! immediate transaction, and whoever finds the file busy waits. A file that is damaged or too new
//! is reported and never changed.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{SqlSafeStr as _, Sqlite, Transaction};
use toolgate_model::{Catalog, Digest, ServerName};
use toolgate_wire::Era;

use crate::{Answer, Consent, FoundEra, SavedCatalog, State, StoreError, Trust};
use crate::{attempts, catalogs, consents, eras, private, trusts};

/// The schema, step by step. A step that was released is never changed.
const MIGRATIONS: [(i64, &str, &str); 5] = [
    (
        1,
        "consents and catalogs",
        include_str!("../migrations/sqlite/0001_consents_and_catalogs.sql"),
    ),
    (2, "eras", include_str!("../migrations/sqlite/0002_eras.sql")),
    (3, "trusts", include_str!("../migrations/sqlite/0003_trusts.sql")),
    (4, "attempts", include_str!("../migrations/sqlite/0004_attempts.sql")),
    (5, "decisions", include_str!("../migrations/sqlite/0005_decisions.sql")),
];

/// How long to wait for another writer.
const BUSY: Duration = Duration::from_secs(10);

/// How long to pause between two tries to open a busy file.
const BUSY_PAUSE: Duration = Duration::from_millis(10);

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

    /// All steps in one immediate transaction: two processes that create the file at the same time
    /// do not meet half-way.
    async fn migrate(&self) -> Result<(), StoreError> {
        let mut transaction = self.begin("bring the state to the current schema").await?;
        if let Err(error) = migrator().run_direct(None, &mut *transaction, false).await {
            return Err(self.not_migrated(error));
        }
        self.commit("bring the state to the current schema", transaction).await
    }

    fn not_migrated(&self, error: MigrateError) -> StoreError {
        let path = self.path.clone();
        let known = MIGRATIONS.iter().map(|(version, ..)| *version).max().unwrap_or_default();
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

/// Connects, again and again while the file is busy: the first who opens a new file switches it to
/// WAL, and SQLite lets nobody wait for that.
async fn connected(options: &SqliteConnectOptions) -> Result<SqlitePool, sqlx::Error> {
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

fn migrator() -> Migrator {
    let steps = MIGRATIONS.map(|(version, description, sql)| {
        let kind = MigrationType::Simple;
        Migration::new(version, description.into(), kind, sql.into_sql_str(), false)
    });
    Migrator::with_migrations(steps.into())
}

fn failed(action: &'static str, path: &Path, source: sqlx::Error) -> StoreError {
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
