//! Completes the beginning of a query, from past queries and then from titles.
//!
//! Case and diacritics do not matter. Only the latest queries are stored.

use toolgate_reading::terms::fold as folded;

use crate::listing::to_sql_limit;
use crate::{Library, LibraryResult};
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

impl Library {
    /// Stores a query for completion.
    pub async fn remember_query(&self, query: &str) -> LibraryResult<()> {
        let query = query.trim();
        if query.is_empty() || query.chars().nth(LONGEST).is_some() {
            return Ok(());
        }
        self.run("store a query", async {
            let mut transaction = self.begin().await?;
            let note = sqlx::query(NOTE).bind(folded(query)).bind(query).bind(now_millis());
            note.execute(&mut *transaction).await?;
            sqlx::query(TRIM).bind(REMEMBERED).execute(&mut *transaction).await?;
            transaction.commit().await
        })
        .await
    }

    /// Deletes all stored queries.
    pub async fn forget_queries(&self) -> LibraryResult<()> {
        let query = sqlx::query("delete from queries").execute(&self.writer);
        self.run("delete past queries", query).await.map(drop)
    }

    /// Returns past queries and titles that begin with `prefix`, the likeliest first.
    pub async fn complete(&self, prefix: &str, limit: usize) -> LibraryResult<Vec<String>> {
        let (prefix, limit) = (folded(prefix.trim_start()), limit.min(MOST));
        let mut found = self.find_by_prefix(QUERIES, &prefix, limit).await?;
        let titles = self.find_by_prefix(TITLES, &prefix, limit).await?;
        for title in titles {
            if found.len() < limit && !found.iter().any(|known| folded(known) == folded(&title)) {
                found.push(title);
            }
        }
        Ok(found)
    }

    async fn find_by_prefix(
        &self,
        query: &'static str,
        prefix: &str,
        limit: usize,
    ) -> LibraryResult<Vec<String>> {
        // Every text with this prefix sorts before `end`.
        let end = format!("{prefix}\u{10ffff}");
        let query = sqlx::query_scalar(query).bind(prefix).bind(end).bind(to_sql_limit(limit));
        self.run("complete a query", query.fetch_all(&self.readers)).await
    }
}
