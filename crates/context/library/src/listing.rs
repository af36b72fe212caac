//! Reads stored stamps, documents and passages, by key and by id.

use std::collections::HashMap;

use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, FromRow, Row as _};
use toolgate_model::Digest;
use toolgate_reading::PassageLocation;

use crate::prepared_document::SEPARATORS;
use crate::{
    Document, DocumentOrigin, DocumentTrust, Library, LibraryResult, PassageHit, SourceStamp,
};

/// Selects the files at a path and below it; see [`key_range_below`].
const FILES_BELOW: &str = "select key, digest, bytes, modified, trusted from documents \
     where kind = 'file' and (key = $1 or (key > $2 and key < $3))";

/// Selects passages with the columns of their documents.
pub(crate) const HIT: &str = "select p.id, p.document, p.heading, p.text, p.first, p.last, \
     d.key, d.folder, d.server, d.uri, d.title, d.modified, d.trusted, d.passages, d.length \
     from passages p join documents d on d.id = p.document";

const DOCUMENT: &str = "select key, folder, server, uri, title, digest, bytes, modified, trusted, \
     kept, passages from documents";

/// Returns a path and the range of keys below it.
fn key_range_below(folder: &str) -> (String, String, String) {
    let bare = folder.trim_end_matches(SEPARATORS);
    let backward = folder.contains('\\') && !folder.contains('/');
    let (separator, next) = if backward { ('\\', ']') } else { ('/', '0') };
    (bare.to_owned(), format!("{bare}{separator}"), format!("{bare}{next}"))
}

impl DocumentOrigin {
    pub(crate) fn from_columns(
        folder: Option<String>,
        server: Option<String>,
        uri: Option<String>,
    ) -> Self {
        match (folder, server, uri) {
            (Some(folder), ..) => Self::File { folder },
            (None, Some(server), Some(uri)) => Self::Resource { server, uri },
            _ => Self::Note,
        }
    }

    fn from_row(row: &SqliteRow) -> sqlx::Result<Self> {
        Ok(Self::from_columns(row.try_get("folder")?, row.try_get("server")?, row.try_get("uri")?))
    }
}

impl SourceStamp {
    fn from_row(row: &SqliteRow) -> sqlx::Result<Self> {
        let digest: &str = row.try_get("digest")?;
        let digest: Result<Digest, ()> = digest.parse();
        let digest = digest.map_err(|()| sqlx::Error::Decode("value is not a digest".into()))?;
        let bytes: i64 = row.try_get("bytes")?;
        Ok(Self { digest, bytes: bytes.unsigned_abs(), modified: row.try_get("modified")? })
    }
}

/// Returns the location of a passage from its columns: a page has no last line.
pub(crate) fn location(first: u32, last: Option<u32>) -> PassageLocation {
    last.map_or(PassageLocation::Page(first), |last| PassageLocation::Lines(first, last))
}

impl FromRow<'_, SqliteRow> for Document {
    fn from_row(row: &SqliteRow) -> sqlx::Result<Self> {
        let passages: i64 = row.try_get("passages")?;
        Ok(Self {
            key: row.try_get("key")?,
            origin: DocumentOrigin::from_row(row)?,
            title: row.try_get("title")?,
            stamp: SourceStamp::from_row(row)?,
            trust: DocumentTrust::of(row.try_get("trusted")?),
            kept: row.try_get("kept")?,
            passages: passages.unsigned_abs(),
        })
    }
}

impl FromRow<'_, SqliteRow> for PassageHit {
    fn from_row(row: &SqliteRow) -> sqlx::Result<Self> {
        Ok(Self {
            passage: row.try_get("id")?,
            key: row.try_get("key")?,
            origin: DocumentOrigin::from_row(row)?,
            title: row.try_get("title")?,
            heading: row.try_get("heading")?,
            text: row.try_get("text")?,
            place: location(row.try_get("first")?, row.try_get("last")?),
            modified: row.try_get("modified")?,
            trust: DocumentTrust::of(row.try_get("trusted")?),
            score: 0.0,
        })
    }
}

impl Library {
    /// Returns the stamp of each file at this path and below it, and the trust in it, by key.
    pub async fn stamps(
        &self,
        folder: &str,
    ) -> LibraryResult<HashMap<String, (SourceStamp, DocumentTrust)>> {
        let (exactly, from, to) = key_range_below(folder);
        let query = sqlx::query(FILES_BELOW).bind(exactly).bind(from).bind(to);
        self.run("read the stamps of a folder", async {
            let rows = query.fetch_all(&self.readers).await?.into_iter();
            let trust = |row: &SqliteRow| row.try_get("trusted").map(DocumentTrust::of);
            let read = |row: SqliteRow| {
                Ok((row.try_get("key")?, (SourceStamp::from_row(&row)?, trust(&row)?)))
            };
            rows.map(read).collect()
        })
        .await
    }

    /// Returns all passages of a document in order, with score 0.
    pub async fn document_passages(&self, key: &str) -> LibraryResult<Vec<PassageHit>> {
        let query = format!(
            "{HIT} where d.key = $1 and p.id >= d.id and p.id < d.id + d.passages order by p.id"
        );
        let query = sqlx::query_as(AssertSqlSafe(query)).bind(key);
        self.run("read a document", query.fetch_all(&self.readers)).await
    }

    /// Returns one page of document keys: those after `after`.
    pub async fn keys(&self, after: &str, limit: usize) -> LibraryResult<Vec<String>> {
        let query = "select key from documents where key > $1 order by key limit $2";
        let query = sqlx::query_scalar(query).bind(after).bind(to_sql_limit(limit));
        self.run("list documents", query.fetch_all(&self.readers)).await
    }

    /// Returns the keys of the most recently modified documents, newest first.
    pub async fn recent_keys(&self, limit: usize) -> LibraryResult<Vec<String>> {
        let query = "select key from documents order by modified desc, id desc limit $1";
        let query = sqlx::query_scalar(query).bind(to_sql_limit(limit));
        self.run("list the newest documents", query.fetch_all(&self.readers)).await
    }

    /// Returns one page of documents without their text, by key: those after `after`.
    pub async fn documents(&self, after: &str, limit: usize) -> LibraryResult<Vec<Document>> {
        let query = format!("{DOCUMENT} where key > $1 order by key limit $2");
        let query = sqlx::query_as(AssertSqlSafe(query)).bind(after).bind(to_sql_limit(limit));
        self.run("list documents", query.fetch_all(&self.readers)).await
    }

    /// Returns one document without its text.
    pub async fn find_document(&self, key: &str) -> LibraryResult<Option<Document>> {
        let query = sqlx::query_as(AssertSqlSafe(format!("{DOCUMENT} where key = $1"))).bind(key);
        self.run("read a document", query.fetch_optional(&self.readers)).await
    }
}

/// Converts a limit to SQLite's integer type.
pub(crate) fn to_sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
