//! The library: opens the file and offers all operations on it.
//!
//! One connection writes, in immediate transactions with whole documents; other writers wait for
//! it. Readers work in parallel (WAL), and each search reads one state of the file, so a long
//! ingest does not block searches. Every commit is synced to disk before it is acknowledged.
//! Transactions are large enough that this costs little.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{Sqlite, Transaction};
use toolgate_reading::terms::TermIndexer;

use crate::{Document, LibraryStatus, NewDocument, PassageHit, PreparedDocument, SourceStamp};
use crate::{insertion, listing, query_completion, reindexing, removal, search, totals};
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
    writer: SqlitePool,
    readers: SqlitePool,
}

impl Library {
    /// Opens the library at `path`. Creates it or migrates it to the current schema.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
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

    async fn migrate(&self) -> Result<(), StoreError> {
        let action = "migrate the local context";
        let mut transaction = self.begin(action).await?;
        sqlite_file::migrate(&mut transaction, &self.path, &MIGRATIONS).await?;
        let indexed = reindexing::reindex_if_outdated(&mut transaction).await;
        indexed.map_err(|source| self.query_error("rebuild the index", source))?;
        self.commit(action, transaction).await
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
    pub async fn keep(&self, documents: Vec<NewDocument>) -> Result<(), StoreError> {
        let prepare = move || {
            let mut indexer = TermIndexer::new();
            documents.into_iter().map(|fresh| PreparedDocument::new(fresh, &mut indexer)).collect()
        };
        // Not on the runtime's threads, because a large document takes long.
        let prepared = tokio::task::spawn_blocking(prepare).await;
        let prepared = prepared.map_err(|error| StoreError::Malformed {
            action: "index documents",
            what: error.to_string(),
        })?;
        self.keep_prepared(prepared).await
    }

    /// Like [`Library::keep`], for documents that the caller has already prepared.
    pub async fn keep_prepared(&self, documents: Vec<PreparedDocument>) -> Result<(), StoreError> {
        insertion::keep(self, documents).await
    }

    /// Updates the stamps of sources whose text has not changed.
    pub async fn update_stamps(
        &self,
        stamps: Vec<(String, SourceStamp)>,
    ) -> Result<(), StoreError> {
        insertion::update_stamps(self, stamps).await
    }

    /// Does one bounded step of optimizing the index for searches. Returns true if there is more to
    /// do. This is optional after an ingest.
    pub async fn tidy(&self) -> Result<bool, StoreError> {
        insertion::tidy(self).await
    }

    /// Returns the stamp of each file at this path and below it, by key.
    pub async fn stamps(&self, folder: &str) -> Result<HashMap<String, SourceStamp>, StoreError> {
        listing::stamps(self, folder).await
    }

    /// Deletes documents. Returns how many there were.
    pub async fn forget(&self, keys: &[String]) -> Result<u64, StoreError> {
        removal::forget_keys(self, keys).await
    }

    /// Deletes every file at this path and below it. Returns how many there were.
    pub async fn forget_folder(&self, folder: &str) -> Result<u64, StoreError> {
        removal::forget_folder(self, folder).await
    }

    /// Deletes every document of a server. Returns how many there were.
    pub async fn forget_server(&self, server: &str) -> Result<u64, StoreError> {
        removal::forget_server(self, server).await
    }

    /// Returns the best passages, best first. A phrase in double quotes must occur literally,
    /// unless the rest of the query is a whole sentence. No other character has a special meaning.
    pub async fn search(&self, query: &str, limit: usize) -> Result<Vec<PassageHit>, StoreError> {
        search::search(self, query, limit).await
    }

    /// Returns all passages of a document in order, with score 0.
    pub async fn document_passages(&self, key: &str) -> Result<Vec<PassageHit>, StoreError> {
        listing::document_passages(self, key).await
    }

    /// Returns one passage by its number, with score 0.
    pub async fn passage(&self, passage: i64) -> Result<Option<PassageHit>, StoreError> {
        listing::passage(self, passage).await
    }

    /// Returns one page of document keys: those after `after`.
    pub async fn keys(&self, after: &str, limit: usize) -> Result<Vec<String>, StoreError> {
        listing::keys(self, after, limit).await
    }

    /// Returns one page of documents without their text, by key: those after `after`.
    pub async fn documents(&self, after: &str, limit: usize) -> Result<Vec<Document>, StoreError> {
        listing::documents(self, after, limit).await
    }

    /// Returns one document without its text.
    pub async fn find_document(&self, key: &str) -> Result<Option<Document>, StoreError> {
        listing::find_document(self, key).await
    }

    /// Stores a query for completion.
    pub async fn remember_query(&self, query: &str) -> Result<(), StoreError> {
        query_completion::remember_query(self, query).await
    }

    /// Deletes all stored queries.
    pub async fn forget_queries(&self) -> Result<(), StoreError> {
        query_completion::forget_queries(self).await
    }

    /// Returns past queries and titles that begin with `prefix`, the likeliest first.
    pub async fn complete(&self, prefix: &str, limit: usize) -> Result<Vec<String>, StoreError> {
        query_completion::complete(self, prefix, limit).await
    }

    /// Returns the size of the library.
    pub async fn status(&self) -> Result<LibraryStatus, StoreError> {
        totals::status(self).await
    }

    pub(crate) fn readers(&self) -> &SqlitePool {
        &self.readers
    }

    pub(crate) async fn begin(
        &self,
        action: &'static str,
    ) -> Result<Transaction<'static, Sqlite>, StoreError> {
        let begun = self.writer.begin_with("BEGIN IMMEDIATE").await;
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
        sqlite_file::query_error(action, &self.path, source)
    }
}
