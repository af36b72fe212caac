//! Statistics of the library: recent documents, and how common words are.

use std::collections::HashMap;

use crate::listing::to_sql_limit;
use crate::{Library, LibraryResult, frequencies};

impl Library {
    /// Returns the keys of the most recently modified documents, newest first.
    pub async fn recent_keys(&self, limit: usize) -> LibraryResult<Vec<String>> {
        let query = "select key from documents order by modified desc, id desc limit $1";
        let query = sqlx::query_scalar(query).bind(to_sql_limit(limit));
        self.run("list the newest documents", query.fetch_all(&self.readers)).await
    }

    /// Returns the approximate share of passages that contain each of these terms. A term that is
    /// too rare to be counted is treated as one that occurs in one passage.
    pub async fn term_shares(&self, terms: &[String]) -> LibraryResult<HashMap<String, f64>> {
        let read = async {
            let mut connection = self.readers.acquire().await?;
            let asked = terms.iter().map(String::as_str);
            let known = frequencies::load_frequencies(&mut connection, asked).await?;
            let all = sqlx::query_scalar("select passages from totals");
            Ok((known, all.fetch_one(&mut *connection).await?))
        };
        let (known, all): (_, i64) = self.run("read word frequencies", read).await?;
        let share = |term: &String| {
            let passages = known.get(term).copied().unwrap_or(1).clamp(1, all.max(1));
            (term.clone(), passages as f64 / all.max(1) as f64)
        };
        Ok(terms.iter().map(share).collect())
    }
}
