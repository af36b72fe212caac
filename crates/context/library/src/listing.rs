//! Reads stored stamps, documents and passages, by key and by id.

use std::collections::HashMap;

use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, FromRow, Row as _};
use toolgate_model::Digest;
use toolgate_reading::PassageLocation;

use crate::prepared_document::SEPARATORS;
use crate::{Document, DocumentOrigin, DocumentTrust, Library, PassageHit, SourceStamp};
use toolgate_store::StoreError;

/// The condition for files at a path and below it, with the values of [`key_range_below`].
pub(crate) const BELOW: &str = "(key = $1 or (key > $2 and key < $3))";

/// Selects passages with the columns of their documents.
pub(crate) const HIT: &str = "select p.id, p.document, p.heading, p.text, p.first, p.last, \
     d.key, d.folder, d.server, d.uri, d.title, d.modified, d.trusted, d.passages, d.length \
     from passages p join documents d on d.id = p.document";

const DOCUMENT: &str = "select key, folder, server, uri, title, digest, bytes, modified, trusted, \
     kept, passages from documents";

/// Returns a path and the range of keys below it.
pub(crate) fn key_range_below(folder: &str) -> (String, String, String) {
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

    fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self::from_columns(row.try_get("folder")?, row.try_get("server")?, row.try_get("uri")?))
    }
}

impl DocumentTrust {
    fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let trusted: bool = row.try_get("trusted")?;
        Ok(if trusted { Self::Trusted } else { Self::Untrusted })
    }
}

impl SourceStamp {
    fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let digest: &str = row.try_get("digest")?;
        let digest: Result<Digest, ()> = digest.parse();
        let digest = digest.map_err(|()| sqlx::Error::Decode("value is not a digest".into()))?;
        let bytes: i64 = row.try_get("bytes")?;
        Ok(Self { digest, bytes: bytes.unsigned_abs(), modified: row.try_get("modified")? })
    }
}

impl FromRow<'_, SqliteRow> for Document {
    fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let passages: i64 = row.try_get("passages")?;
        Ok(Self {
            key: row.try_get("key")?,
            origin: DocumentOrigin::from_row(row)?,
            title: row.try_get("title")?,
            stamp: SourceStamp::from_row(row)?,
            trust: DocumentTrust::from_row(row)?,
            kept: row.try_get("kept")?,
            passages: passages.unsigned_abs(),
        })
    }
}

impl FromRow<'_, SqliteRow> for PassageHit {
    fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let first = row.try_get("first")?;
        let last: Option<u32> = row.try_get("last")?;
        let place = last
            .map_or(PassageLocation::Page(first), |last| PassageLocation::Lines { first, last });
        Ok(Self {
            passage: row.try_get("id")?,
            key: row.try_get("key")?,
            origin: DocumentOrigin::from_row(row)?,
            title: row.try_get("title")?,
            heading: row.try_get("heading")?,
            text: row.try_get("text")?,
            place,
            modified: row.try_get("modified")?,
            trust: DocumentTrust::from_row(row)?,
            score: 0.0,
        })
    }
}

pub(crate) async fn stamps(
    library: &Library,
    folder: &str,
) -> Result<HashMap<String, SourceStamp>, StoreError> {
    let sql = "select key, digest, bytes, modified from documents where kind = 'file' and";
    let (exactly, from, to) = key_range_below(folder);
    let query = sqlx::query(AssertSqlSafe(format!("{sql} {BELOW}")));
    let rows = query.bind(exactly).bind(from).bind(to).fetch_all(library.readers()).await;
    let read = |row: SqliteRow| Ok((row.try_get("key")?, SourceStamp::from_row(&row)?));
    let stamps = rows.and_then(|rows| rows.into_iter().map(read).collect());
    stamps.map_err(|source| library.query_error("read the stamps of a folder", source))
}

pub(crate) async fn document_passages(
    library: &Library,
    key: &str,
) -> Result<Vec<PassageHit>, StoreError> {
    let query = format!(
        "{HIT} where d.key = $1 and p.id >= d.id and p.id < d.id + d.passages order by p.id"
    );
    let query = sqlx::query_as(AssertSqlSafe(query)).bind(key);
    let passages = query.fetch_all(library.readers()).await;
    passages.map_err(|source| library.query_error("read a document", source))
}

pub(crate) async fn passage(
    library: &Library,
    passage: i64,
) -> Result<Option<PassageHit>, StoreError> {
    let query = sqlx::query_as(AssertSqlSafe(format!("{HIT} where p.id = $1"))).bind(passage);
    let passage = query.fetch_optional(library.readers()).await;
    passage.map_err(|source| library.query_error("read a passage", source))
}

pub(crate) async fn keys(
    library: &Library,
    after: &str,
    limit: usize,
) -> Result<Vec<String>, StoreError> {
    let query = "select key from documents where key > $1 order by key limit $2";
    let query = sqlx::query_scalar(query).bind(after).bind(to_sql_limit(limit));
    let keys = query.fetch_all(library.readers()).await;
    keys.map_err(|source| library.query_error("list documents", source))
}

pub(crate) async fn documents(
    library: &Library,
    after: &str,
    limit: usize,
) -> Result<Vec<Document>, StoreError> {
    let query = format!("{DOCUMENT} where key > $1 order by key limit $2");
    let query = sqlx::query_as(AssertSqlSafe(query)).bind(after).bind(to_sql_limit(limit));
    let documents = query.fetch_all(library.readers()).await;
    documents.map_err(|source| library.query_error("list documents", source))
}

pub(crate) async fn find_document(
    library: &Library,
    key: &str,
) -> Result<Option<Document>, StoreError> {
    let query = sqlx::query_as(AssertSqlSafe(format!("{DOCUMENT} where key = $1"))).bind(key);
    let document = query.fetch_optional(library.readers()).await;
    document.map_err(|source| library.query_error("read a document", source))
}

/// Converts a limit to SQLite's integer type.
pub(crate) fn to_sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
