//! Completes the beginning of a query, from past queries and then from titles.
//!
//! Case and diacritics do not matter. Only the latest queries are stored.

use sqlx::sqlite::SqlitePool;
use toolgate_reading::terms::fold as folded;

use crate::Library;
use crate::listing::to_sql_limit;
use toolgate_store::StoreError;
use toolgate_store::now_millis;

/// The maximum number of stored queries.
const REMEMBERED: i64 = 2000;

/// The maximum length of a stored query, in characters.
const LONGEST: usize = 200;

/// The maximum number of completions.
const MOST: usize = 100;

const NOTE: &str = "insert into queries (folded, query, times, last) values ($1, $2, 1, $3) \
     on conflict (folded) do update set \
     query = excluded.query, times = times + 1, last = excluded.last";

const TRIM: &str = "delete from queries where folded in \
     (select folded from queries order by last desc limit -1 offset $1)";

const QUERIES: &str = "select query from queries where folded >= $1 and folded < $2 \
     order by times desc, last desc limit $3";

const TITLES: &str = "select distinct title from documents where folded >= $1 and folded < $2 \
     order by folded limit $3";

pub(crate) async fn remember_query(library: &Library, query: &str) -> Result<(), StoreError> {
    let query = query.trim();
    if query.is_empty() || query.chars().nth(LONGEST).is_some() {
        return Ok(());
    }
    let action = "store a query";
    let mut transaction = library.begin(action).await?;
    for statement in [
        sqlx::query(NOTE).bind(folded(query)).bind(query.to_owned()).bind(now_millis()),
        sqlx::query(TRIM).bind(REMEMBERED),
    ] {
        let done = statement.execute(&mut *transaction).await;
        done.map_err(|source| library.query_error(action, source))?;
    }
    library.commit(action, transaction).await
}

pub(crate) async fn forget_queries(library: &Library) -> Result<(), StoreError> {
    let action = "delete past queries";
    let mut transaction = library.begin(action).await?;
    let done = sqlx::query("delete from queries").execute(&mut *transaction).await;
    done.map_err(|source| library.query_error(action, source))?;
    library.commit(action, transaction).await
}

pub(crate) async fn complete(
    library: &Library,
    prefix: &str,
    limit: usize,
) -> Result<Vec<String>, StoreError> {
    let (prefix, limit) = (folded(prefix.trim_start()), limit.min(MOST));
    let failed = |source| library.query_error("complete a query", source);
    let mut found =
        find_by_prefix(library.readers(), QUERIES, &prefix, limit).await.map_err(failed)?;
    let titles = find_by_prefix(library.readers(), TITLES, &prefix, limit).await.map_err(failed)?;
    for title in titles {
        if found.len() < limit && !found.iter().any(|known| folded(known) == folded(&title)) {
            found.push(title);
        }
    }
    Ok(found)
}

async fn find_by_prefix(
    readers: &SqlitePool,
    query: &'static str,
    prefix: &str,
    limit: usize,
) -> Result<Vec<String>, sqlx::Error> {
    // Every text with this prefix sorts before `end`.
    let end = format!("{prefix}\u{10ffff}");
    sqlx::query_scalar(query)
        .bind(prefix)
        .bind(end)
        .bind(to_sql_limit(limit))
        .fetch_all(readers)
        .await
}
