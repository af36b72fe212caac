//! Forgetting documents: their passages, their terms, and their share of all numbers go with them.

use sqlx::{AssertSqlSafe, SqliteConnection};
use toolgate_reading::terms::Indexer;

use super::listing::{BELOW, below};
use super::prepared::indexed;
use super::totals::Change;
use super::{Library, Origin};
use crate::StoreError;

/// How many documents one transaction forgets: others can write between two.
const AT_ONCE: usize = 500;

type Row = (i64, Option<String>, Option<String>, Option<String>, String, i64, i64, i64);

const FIND: &str = "select id, folder, server, uri, title, bytes, passages, length \
     from documents where key in (select value from json_each($1))";

const COUNTED: &str = "select heading, text, counted from passages \
     where id >= $1 and id < $2 and counted > 0";

pub(super) async fn keys(library: &Library, keys: &[String]) -> Result<u64, StoreError> {
    let action = "forget documents";
    let mut forgotten = 0;
    for keys in keys.chunks(AT_ONCE) {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let mut transaction = library.begin(action).await?;
        let removed = remove_and_count(&mut transaction, &keys).await;
        forgotten += removed.map_err(|source| library.failed(action, source))?;
        library.commit(action, transaction).await?;
    }
    Ok(forgotten)
}

pub(super) async fn folder(library: &Library, folder: &str) -> Result<u64, StoreError> {
    let query = AssertSqlSafe(format!("select key from documents where kind = 'file' and {BELOW}"));
    let (exactly, from, to) = below(folder);
    let query = sqlx::query_scalar(query).bind(exactly).bind(from).bind(to);
    let found = query.fetch_all(library.readers()).await;
    let found = found.map_err(|source| library.failed("find the documents of a folder", source))?;
    keys(library, &found).await
}

pub(super) async fn server(library: &Library, server: &str) -> Result<u64, StoreError> {
    let query = sqlx::query_scalar("select key from documents where server = $1").bind(server);
    let found = query.fetch_all(library.readers()).await;
    let found = found.map_err(|source| library.failed("find the documents of a server", source))?;
    keys(library, &found).await
}

async fn remove_and_count(
    connection: &mut SqliteConnection,
    keys: &[&str],
) -> Result<u64, sqlx::Error> {
    let change = remove(connection, keys).await?;
    let removed = change.documents.unsigned_abs();
    change.apply(connection).await?;
    Ok(removed)
}

/// Removes the documents of these keys; the change that is still to be applied to the totals.
pub(super) async fn remove(
    connection: &mut SqliteConnection,
    keys: &[&str],
) -> Result<Change, sqlx::Error> {
    let mut change = Change::default();
    let keys = serde_json::Value::from_iter(keys.iter().copied()).to_string();
    let found: Vec<Row> = sqlx::query_as(FIND).bind(&keys).fetch_all(&mut *connection).await?;
    if found.is_empty() {
        return Ok(change);
    }
    let mut indexer = Indexer::new();
    for (id, folder, server, uri, title, bytes, passages, length) in found {
        let origin = Origin::read(folder, server, uri);
        let title = indexed(&title, &mut indexer);
        let counted = sqlx::query_as::<_, (String, String, i64)>(COUNTED).bind(id);
        for (heading, text, weight) in
            counted.bind(id + passages).fetch_all(&mut *connection).await?
        {
            let (heading, text) = (indexed(&heading, &mut indexer), indexed(&text, &mut indexer));
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
        change.source(&origin, -1);
    }
    let query = "delete from documents where key in (select value from json_each($1))";
    sqlx::query(query).bind(keys).execute(connection).await?;
    Ok(change)
}
