//! Changes the trust in stored documents, because the user can change the trust in a folder later.

use std::collections::HashSet;

use sqlx::AssertSqlSafe;

use crate::listing::{BELOW, key_range_below};
use crate::{DocumentTrust, Library, LibraryResult};

impl Library {
    /// Returns the keys of the trusted files at this path and below it.
    pub async fn trusted_keys(&self, folder: &str) -> LibraryResult<HashSet<String>> {
        let sql = "select key from documents where kind = 'file' and trusted and";
        let (exactly, from, to) = key_range_below(folder);
        let query = sqlx::query_scalar(AssertSqlSafe(format!("{sql} {BELOW}")));
        let keys = query.bind(exactly).bind(from).bind(to).fetch_all(&self.readers).await;
        let keys = keys.map(|keys: Vec<String>| keys.into_iter().collect());
        keys.map_err(self.failed("read the trusted documents"))
    }

    /// Sets the trust of these documents.
    pub async fn set_trust(&self, keys: &[String], trust: DocumentTrust) -> LibraryResult<()> {
        if keys.is_empty() {
            return Ok(());
        }
        let action = "set the trust of documents";
        let mut transaction = self.begin(action).await?;
        for key in keys {
            sqlx::query("update documents set trusted = $1 where key = $2")
                .bind(trust == DocumentTrust::Trusted)
                .bind(key)
                .execute(&mut *transaction)
                .await
                .map_err(self.failed(action))?;
        }
        self.commit(action, transaction).await
    }
}
