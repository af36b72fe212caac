//! Whose word documents are, after they were kept: a user may change his mind about a folder.

use std::collections::HashSet;

use sqlx::AssertSqlSafe;

use super::listing::{BELOW, below};
use super::{Library, Trust};
use crate::StoreError;

impl Library {
    /// The keys of the files at this path and below it that are trusted.
    pub async fn trusted(&self, folder: &str) -> Result<HashSet<String>, StoreError> {
        let sql = "select key from documents where kind = 'file' and trusted and";
        let (exactly, from, to) = below(folder);
        let query = sqlx::query_scalar(AssertSqlSafe(format!("{sql} {BELOW}")));
        let keys = query.bind(exactly).bind(from).bind(to).fetch_all(self.readers()).await;
        let keys = keys.map(|keys: Vec<String>| keys.into_iter().collect());
        keys.map_err(|source| self.failed("read which documents are trusted", source))
    }

    /// Says of these documents whose word they are.
    pub async fn entrust(&self, keys: &[String], trust: Trust) -> Result<(), StoreError> {
        if keys.is_empty() {
            return Ok(());
        }
        let action = "note which documents are trusted";
        let mut transaction = self.begin(action).await?;
        for key in keys {
            sqlx::query("update documents set trusted = $1 where key = $2")
                .bind(trust == Trust::Trusted)
                .bind(key)
                .execute(&mut *transaction)
                .await
                .map_err(|source| self.failed(action, source))?;
        }
        self.commit(action, transaction).await
    }
}
