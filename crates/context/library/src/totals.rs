//! The totals of a library, updated with every change so that no query has to count all rows.

use std::collections::HashMap;
use std::path::Path;

use sqlx::SqliteConnection;

use crate::bulk_insert::bulk_insert;
use crate::frequencies::FrequencyChanges;
use crate::{DocumentOrigin, Library, LibraryResult, LibraryStatus};

const APPLY: &str = "update totals set documents = documents + $1, passages = passages + $2, \
     bytes = bytes + $3, length = length + $4, next_passage = next_passage + $5, \
     latest = coalesce($6, latest)";

const SOURCES: (&str, &str) = (
    "insert into sources (kind, name, documents) ",
    " on conflict (kind, name) do update set documents = documents + excluded.documents",
);

/// The totals of a library.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LibraryTotals {
    pub(crate) documents: i64,
    pub(crate) passages: i64,
    pub(crate) bytes: i64,
    /// The number of terms in all bodies.
    pub(crate) length: i64,
    pub(crate) next_passage: i64,
    pub(crate) latest: Option<i64>,
}

/// The change of the totals by one transaction.
#[derive(Debug, Default)]
pub(crate) struct TotalsChange {
    pub(crate) documents: i64,
    pub(crate) passages: i64,
    pub(crate) bytes: i64,
    pub(crate) length: i64,
    pub(crate) numbers: i64,
    pub(crate) latest: Option<i64>,
    pub(crate) sources: HashMap<(&'static str, String), i64>,
    pub(crate) frequencies: FrequencyChanges,
}

impl TotalsChange {
    /// Adds (1) or subtracts (-1) a document of this origin.
    pub(crate) fn count_source(&mut self, origin: &DocumentOrigin, by: i64) {
        let name = match origin {
            DocumentOrigin::File { folder } => ("folder", folder),
            DocumentOrigin::Resource { server, .. } => ("server", server),
            DocumentOrigin::Note => return,
        };
        *self.sources.entry((name.0, name.1.clone())).or_default() += by;
    }

    pub(crate) async fn apply(self, connection: &mut SqliteConnection) -> sqlx::Result<()> {
        self.frequencies.apply(connection).await?;
        let sources: Vec<_> = self.sources.into_iter().filter(|(_, by)| *by != 0).collect();
        bulk_insert(connection, SOURCES, sources, |mut row, ((kind, name), by)| {
            row.push_bind(kind).push_bind(name).push_bind(by);
        })
        .await?;
        sqlx::query("delete from sources where documents <= 0").execute(&mut *connection).await?;
        let query = sqlx::query(APPLY).bind(self.documents).bind(self.passages).bind(self.bytes);
        let query = query.bind(self.length).bind(self.numbers).bind(self.latest);
        query.execute(connection).await.map(drop)
    }
}

pub(crate) async fn read(connection: &mut SqliteConnection) -> sqlx::Result<LibraryTotals> {
    let query = "select documents, passages, bytes, length, next_passage, latest from totals";
    let row = sqlx::query_as::<_, (i64, i64, i64, i64, i64, Option<i64>)>(query);
    let (documents, passages, bytes, length, next_passage, latest) =
        row.fetch_one(connection).await?;
    Ok(LibraryTotals { documents, passages, bytes, length, next_passage, latest })
}

impl Library {
    /// Returns the size of the library.
    pub async fn status(&self) -> LibraryResult<LibraryStatus> {
        let query = "select kind, name, documents from sources order by kind, name";
        let read = async {
            let mut transaction = self.readers.begin().await?;
            let totals = read(&mut transaction).await?;
            let sources = sqlx::query_as::<_, (String, String, i64)>(query);
            Ok((totals, sources.fetch_all(&mut *transaction).await?))
        };
        let (totals, sources) = self.run("read the status of the local context", read).await?;
        let (folders, servers) =
            sources.into_iter().partition::<Vec<_>, _>(|row| row.0 == "folder");
        let named = |rows: Vec<(String, String, i64)>| {
            rows.into_iter().map(|(_, name, documents)| (name, documents.unsigned_abs())).collect()
        };
        Ok(LibraryStatus {
            documents: totals.documents.unsigned_abs(),
            passages: totals.passages.unsigned_abs(),
            bytes: totals.bytes.unsigned_abs(),
            size: file_size(self.path()),
            latest: totals.latest,
            folders: named(folders),
            servers: named(servers),
        })
    }
}

/// Returns the size of the file and its write-ahead log.
fn file_size(path: &Path) -> u64 {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let size = |path: &Path| path.metadata().map_or(0, |metadata| metadata.len());
    size(path) + size(log.as_ref())
}
