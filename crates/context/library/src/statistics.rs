//! Statistics of the library: recent documents, and how common words are.

use std::collections::HashMap;

use crate::listing::to_sql_limit;
use crate::{Library, LibraryResult, frequencies};

impl Library {
    /// Returns the keys of the most recently modified documents, newest first.
    pub async fn recent_keys(&self, limit: usize) -> LibraryResult<Vec<String>> {
        let query = "select key from documents order by modified desc, id desc limit $1";
        let query = sqlx::query_scalar(query).bind(to_sql_limit(limit));
        query.fetch_all(&self.readers).await.map_err(self.failed("list the newest documents"))
    }

    /// Returns the approximate share of passages that contain each of these terms. A term that is
    /// too rare to be counted is treated as one that occurs in one passage.
    pub async fn term_shares(&self, terms: &[String]) -> LibraryResult<HashMap<String, f64>> {
        let failed = self.failed("read word frequencies");
        let mut connection = self.readers.acquire().await.map_err(failed)?;
        let known =
            frequencies::load_frequencies(&mut connection, terms.iter().map(String::as_str))
                .await
                .map_err(failed)?;
        let all = sqlx::query_scalar("select passages from totals");
        let all: i64 = all.fetch_one(&mut *connection).await.map_err(failed)?;
        let share = |term: &String| {
            let passages = known.get(term).copied().unwrap_or(1).clamp(1, all.max(1));
            (term.clone(), passages as f64 / all.max(1) as f64)
        };
        Ok(terms.iter().map(share).collect())
    }
}
