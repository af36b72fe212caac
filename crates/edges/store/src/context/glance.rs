//! What is known of the library without searching it: what is new, and how common words are.

use std::collections::HashMap;

use super::listing::most;
use super::{Library, frequencies};
use crate::StoreError;

impl Library {
    /// The keys of the documents that were changed last, newest first.
    pub async fn recent(&self, limit: usize) -> Result<Vec<String>, StoreError> {
        let query = "select key from documents order by modified desc, id desc limit $1";
        let query = sqlx::query_scalar(query).bind(most(limit));
        let keys = query.fetch_all(self.readers()).await;
        keys.map_err(|source| self.failed("list the newest documents", source))
    }

    /// What part of all passages each of these terms stands in, about; one that is too rare to have
    /// been counted counts as standing in one.
    pub async fn shares(&self, terms: &[String]) -> Result<HashMap<String, f64>, StoreError> {
        let failed = |source| self.failed("count words", source);
        let mut connection = self.readers().acquire().await.map_err(failed)?;
        let known = frequencies::of(&mut connection, terms.iter().map(String::as_str))
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
