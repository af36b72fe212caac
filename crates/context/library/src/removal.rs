//! Deletes documents with their passages and terms, and updates the totals.

use sqlx::SqliteConnection;
use toolgate_reading::terms::TermIndexer;

use crate::prepared_document::index_terms;
use crate::totals::TotalsChange;
use crate::{DocumentOrigin, Library, LibraryResult};

/// The maximum number of documents that one transaction deletes, so that other writers get a turn.
const AT_ONCE: usize = 500;

/// The columns of a document to delete.
type RemovedDocumentRow =
    (i64, Option<String>, Option<String>, Option<String>, String, i64, i64, i64);

const FIND: &str = "select id, folder, server, uri, title, bytes, passages, length \
     from documents where key in (select value from json_each($1))";

const COUNTED: &str = "select heading, text, counted from passages \
     where id >= $1 and id < $2 and counted > 0";

impl Library {
    /// Deletes documents. Returns how many there were.
    pub async fn forget(&self, keys: &[String]) -> LibraryResult<u64> {
        let mut forgotten = 0;
        for keys in keys.chunks(AT_ONCE) {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let removed = async {
                let mut transaction = self.begin().await?;
                let change = remove(&mut transaction, &keys).await?;
                let removed = change.documents.unsigned_abs();
                change.apply(&mut transaction).await?;
                transaction.commit().await?;
                Ok(removed)
            };
            forgotten += self.run("delete documents", removed).await?;
        }
        Ok(forgotten)
    }
}

/// Deletes the documents with these keys. Returns the change that the caller applies to the totals.
pub(crate) async fn remove(
    connection: &mut SqliteConnection,
    keys: &[&str],
) -> sqlx::Result<TotalsChange> {
    let mut change = TotalsChange::default();
    let keys = serde_json::Value::from_iter(keys.iter().copied()).to_string();
    let found: Vec<RemovedDocumentRow> =
        sqlx::query_as(FIND).bind(&keys).fetch_all(&mut *connection).await?;
    if found.is_empty() {
        return Ok(change);
    }
    let mut indexer = TermIndexer::new();
    for (id, folder, server, uri, title, bytes, passages, length) in found {
        let origin = DocumentOrigin::from_columns(folder, server, uri);
        let title = index_terms(&title, &mut indexer);
        let counted = sqlx::query_as::<_, (String, String, i64)>(COUNTED).bind(id);
        for (heading, text, weight) in
            counted.bind(id + passages).fetch_all(&mut *connection).await?
        {
            let (heading, text) =
                (index_terms(&heading, &mut indexer), index_terms(&text, &mut indexer));
            change.frequencies.count([&title, &heading, &text], -weight);
        }
        for part in [
            "delete from terms where rowid >= $1 and rowid < $2",
            "delete from passages where id >= $1 and id < $2",
        ] {
            sqlx::query(part).bind(id).bind(id + passages).execute(&mut *connection).await?;
        }
        change.documents -= 1;
        change.passages -= passages;
        change.bytes -= bytes;
        change.length -= length;
        change.count_source(&origin, -1);
    }
    let query = "delete from documents where key in (select value from json_each($1))";
    sqlx::query(query).bind(keys).execute(connection).await?;
    Ok(change)
}
