//! The library: opens the file and offers all operations on it.
//!
//! One connection writes, in immediate transactions with whole documents; other writers wait for
//! it. Readers work in parallel (WAL), and each search reads one state of the file, so a long
//! ingest does not block searches. Every commit is synced to disk before it is acknowledged.
//! Transactions are large enough that this costs little.

use std::path::{Path, PathBuf};

use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{Sqlite, Transaction};
use toolgate_reading::terms::TermIndexer;

use crate::{LibraryResult, NewDocument, PreparedDocument, reindexing};
use toolgate_store::sqlite_file::{self, BUSY_TIMEOUT};
use toolgate_store::{StoreError, ensure_file};

/// The migrations of the schema. A released migration never changes.
const MIGRATIONS: [(i64, &str, &str); 1] =
    [(1, "library", include_str!("../migrations/0001_library.sql"))];

/// The maximum number of concurrent readers in one process.
const READERS: u32 = 4;

/// The page cache of a connection, in KiB. The writer needs more to merge the index.
const WRITER_CACHE: &str = "-32768";
const READER_CACHE: &str = "-8192";

/// The number of pages in the write-ahead log before a checkpoint. This covers several transactions
/// of an ingest, which change the same pages again.
const CHECKPOINT_PAGES: &str = "8000";

/// How many bytes of the file a reader maps into memory.
const MAPPED: &str = "1073741824";

/// The documents of a home. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Library {
    path: PathBuf,
    pub(crate) writer: SqlitePool,
    pub(crate) readers: SqlitePool,
}

impl Library {
    /// Opens the library at `path`. Creates it or migrates it to the current schema.
    pub async fn open(path: impl Into<PathBuf>) -> LibraryResult<Self> {
        let path = path.into();
        ensure_file(&path).map_err(|source| StoreError::Open { path: path.clone(), source })?;
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(BUSY_TIMEOUT)
            .pragma("wal_autocheckpoint", CHECKPOINT_PAGES);
        let writer = options.clone().pragma("cache_size", WRITER_CACHE);
        let writer = sqlite_file::connect_with_retry(&writer).await;
        let writer = writer
            .map_err(|source| sqlite_file::query_error("open the local context", &path, source))?;
        let reader = options
            .pragma("cache_size", READER_CACHE)
            .pragma("mmap_size", MAPPED)
            .pragma("query_only", "on");
        let readers = SqlitePoolOptions::new().max_connections(READERS).connect_lazy_with(reader);
        let library = Self { path, writer, readers };
        library.migrate().await?;
        Ok(library)
    }

    async fn migrate(&self) -> LibraryResult<()> {
        let action = "migrate the local context";
        let mut transaction = self.run(action, self.begin()).await?;
        sqlite_file::migrate(&mut transaction, &self.path, &MIGRATIONS).await?;
        let reindexed = reindexing::reindex_if_outdated(&mut transaction);
        self.run("rebuild the index", reindexed).await?;
        self.run(action, transaction.commit()).await
    }

    /// Closes the file after all writes are in it.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Stores these documents in one transaction. Replaces documents with the same keys.
    pub async fn keep(&self, documents: Vec<NewDocument>) -> LibraryResult<()> {
        let prepare = move || {
            let mut indexer = TermIndexer::new();
            documents.into_iter().map(|fresh| PreparedDocument::new(fresh, &mut indexer)).collect()
        };
        // Not on the runtime's threads, because a large document takes long.
        let prepared = tokio::task::spawn_blocking(prepare).await.map_err(|error| {
            StoreError::Malformed { action: "index documents", what: error.to_string() }
        })?;
        self.keep_prepared(prepared).await
    }

    pub(crate) async fn begin(&self) -> sqlx::Result<Transaction<'static, Sqlite>> {
        self.writer.begin_with("BEGIN IMMEDIATE").await
    }

    /// Runs queries. An error names the action.
    pub(crate) async fn run<T>(
        &self,
        action: &'static str,
        work: impl Future<Output = sqlx::Result<T>>,
    ) -> LibraryResult<T> {
        work.await.map_err(|source| sqlite_file::query_error(action, &self.path, source))
    }
}
