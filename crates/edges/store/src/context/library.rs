//! The library: opening it, and what can be done with it.
//!
//! One connection writes, in immediate transactions that hold whole documents: whoever else writes
//! waits for it. Others read beside it (WAL), each search from one state of the file, so that an
//! ingest that takes minutes hinders nobody. A commit is synced before it is acknowledged, like
//! everything else that is kept; a transaction is large enough for that not to matter.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{Sqlite, Transaction};
use toolgate_reading::terms::Indexer;

use super::{Card, Fresh, Hit, Prepared, Stamp, Status};
use super::{completing, forgetting, keeping, listing, reindexing, search, totals};
use crate::opening::{self, BUSY};
use crate::{StoreError, private};

/// The schema, step by step. A step that was released is never changed.
const MIGRATIONS: [(i64, &str, &str); 1] =
    [(1, "library", include_str!("../../migrations/context/0001_library.sql"))];

/// How many searches of one process read at once.
const READERS: u32 = 4;

/// Pages of the file that a connection keeps in memory, in KiB: the writer's are those of the
/// index it merges.
const WRITER_CACHE: &str = "-32768";
const READER_CACHE: &str = "-8192";

/// How many pages gather in the write-ahead log before they are brought into the file: several
/// transactions of an ingest, since each of them touches the same pages again.
const CHECKPOINT_PAGES: &str = "8000";

/// How much of the file a reader sees as memory instead of copying it.
const MAPPED: &str = "1073741824";

/// The documents of a home. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Library {
    path: PathBuf,
    writer: SqlitePool,
    readers: SqlitePool,
}

impl Library {
    /// Opens the library at `path`, creating it or bringing it to the current schema.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path = path.into();
        private::ensure(&path).map_err(|source| StoreError::Open { path: path.clone(), source })?;
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(BUSY)
            .pragma("wal_autocheckpoint", CHECKPOINT_PAGES);
        let writer = options.clone().pragma("cache_size", WRITER_CACHE);
        let writer = opening::connected(&writer).await;
        let writer =
            writer.map_err(|source| opening::failed("open the local context", &path, source))?;
        let reader = options
            .pragma("cache_size", READER_CACHE)
            .pragma("mmap_size", MAPPED)
            .pragma("query_only", "on");
        let readers = SqlitePoolOptions::new().max_connections(READERS).connect_lazy_with(reader);
        let library = Self { path, writer, readers };
        library.migrate().await?;
        Ok(library)
    }

    async fn migrate(&self) -> Result<(), StoreError> {
        let action = "bring the local context to the current schema";
        let mut transaction = self.begin(action).await?;
        opening::migrate(&mut transaction, &self.path, &MIGRATIONS).await?;
        let indexed = reindexing::if_outdated(&mut transaction).await;
        indexed.map_err(|source| self.failed("make the index anew", source))?;
        self.commit(action, transaction).await
    }

    /// Closes the file, everything written into it.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps these documents, all in one transaction, in place of those of the same keys.
    pub async fn keep(&self, documents: Vec<Fresh>) -> Result<(), StoreError> {
        let prepare = move || {
            let mut indexer = Indexer::new();
            documents.into_iter().map(|fresh| Prepared::new(fresh, &mut indexer)).collect()
        };
        // Off the runtime's threads: a large document takes its time.
        let prepared = tokio::task::spawn_blocking(prepare).await;
        let prepared = prepared.map_err(|error| StoreError::Malformed {
            action: "find the terms of documents",
            what: error.to_string(),
        })?;
        self.keep_prepared(prepared).await
    }

    /// The same for documents whose terms were found elsewhere, on other threads for instance.
    pub async fn keep_prepared(&self, documents: Vec<Prepared>) -> Result<(), StoreError> {
        keeping::keep(self, documents).await
    }

    /// Notes that sources look otherwise now, though they say the same.
    pub async fn restamp(&self, stamps: Vec<(String, Stamp)>) -> Result<(), StoreError> {
        keeping::restamp(self, stamps).await
    }

    /// Brings the index into the shape that is searched fastest, a bounded step of it; whether
    /// there is more to do. For after an ingest: nothing depends on it.
    pub async fn tidy(&self) -> Result<bool, StoreError> {
        keeping::tidy(self).await
    }

    /// What is known of each file at this path and below it, by its key.
    pub async fn stamps(&self, folder: &str) -> Result<HashMap<String, Stamp>, StoreError> {
        listing::stamps(self, folder).await
    }

    /// Forgets documents; how many there were.
    pub async fn forget(&self, keys: &[String]) -> Result<u64, StoreError> {
        forgetting::keys(self, keys).await
    }

    /// Forgets every file at this path and below it; how many there were.
    pub async fn forget_folder(&self, folder: &str) -> Result<u64, StoreError> {
        forgetting::folder(self, folder).await
    }

    /// Forgets everything that came from a server; how many documents that was.
    pub async fn forget_server(&self, server: &str) -> Result<u64, StoreError> {
        forgetting::server(self, server).await
    }

    /// The passages that fit best, best first. What stands in double quotes must be there so, unless
    /// the query is a whole sentence beside; no other character of a query means anything.
    pub async fn search(&self, query: &str, limit: usize) -> Result<Vec<Hit>, StoreError> {
        search::search(self, query, limit).await
    }

    /// All passages of a document, in order; their score is 0.
    pub async fn document(&self, key: &str) -> Result<Vec<Hit>, StoreError> {
        listing::document(self, key).await
    }

    /// One passage, by its number; its score is 0.
    pub async fn passage(&self, passage: i64) -> Result<Option<Hit>, StoreError> {
        listing::passage(self, passage).await
    }

    /// Every document's key, a page at a time: those behind `after`.
    pub async fn keys(&self, after: &str, limit: usize) -> Result<Vec<String>, StoreError> {
        listing::keys(self, after, limit).await
    }

    /// Every document without its text, by key, a page at a time: those behind `after`.
    pub async fn documents(&self, after: &str, limit: usize) -> Result<Vec<Card>, StoreError> {
        listing::documents(self, after, limit).await
    }

    /// What is kept of one document, without its text.
    pub async fn card(&self, key: &str) -> Result<Option<Card>, StoreError> {
        listing::card(self, key).await
    }

    /// Remembers that this was asked, for completion.
    pub async fn note_query(&self, query: &str) -> Result<(), StoreError> {
        completing::note(self, query).await
    }

    /// Forgets all that was asked.
    pub async fn forget_queries(&self) -> Result<(), StoreError> {
        completing::forget(self).await
    }

    /// Past queries and titles that begin so, the likeliest first.
    pub async fn complete(&self, prefix: &str, limit: usize) -> Result<Vec<String>, StoreError> {
        completing::complete(self, prefix, limit).await
    }

    /// How much there is.
    pub async fn status(&self) -> Result<Status, StoreError> {
        totals::status(self).await
    }

    pub(super) fn readers(&self) -> &SqlitePool {
        &self.readers
    }

    pub(super) async fn begin(
        &self,
        action: &'static str,
    ) -> Result<Transaction<'static, Sqlite>, StoreError> {
        let begun = self.writer.begin_with("BEGIN IMMEDIATE").await;
        begun.map_err(|source| self.failed(action, source))
    }

    pub(super) async fn commit(
        &self,
        action: &'static str,
        transaction: Transaction<'static, Sqlite>,
    ) -> Result<(), StoreError> {
        transaction.commit().await.map_err(|source| self.failed(action, source))
    }

    pub(super) fn failed(&self, action: &'static str, source: sqlx::Error) -> StoreError {
        opening::failed(action, &self.path, source)
    }
}
