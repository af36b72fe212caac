//! Statistics of the library: recent documents, and how common words are.

use std::collections::HashMap;

use crate::listing::to_sql_limit;
use crate::{Library, frequencies};
use toolgate_store::StoreError;

impl Library {
    /// Returns the keys of the most recently modified documents, newest first.
    pub async fn recent_keys(&self, limit: usize) -> Result<Vec<String>, StoreError> {
        let query = "select key from documents order by modified desc, id desc limit $1";
        let query = sqlx::query_scalar(query).bind(to_sql_limit(limit));
        let keys = query.fetch_all(self.readers()).await;
        keys.map_err(|source| self.query_error("list the newest documents", source))
    }

    /// Returns the approximate share of passages that contain each of these terms. A term that is
    /// too rare to be counted is treated as one that occurs in one passage.
    pub async fn term_shares(&self, terms: &[String]) -> Result<HashMap<String, f64>, StoreError> {
        let failed = |source| self.query_error("read word frequencies", source);
        let mut connection = self.readers().acquire().await.map_err(failed)?;
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
