//! Changes the trust in stored documents, because the user can change the trust in a folder later.

use crate::{DocumentTrust, Library, LibraryResult};

impl Library {
    /// Sets the trust of these documents.
    pub async fn set_trust(&self, keys: &[String], trust: DocumentTrust) -> LibraryResult<()> {
        if keys.is_empty() {
            return Ok(());
        }
        let keys = serde_json::Value::from_iter(keys.iter().map(String::as_str)).to_string();
        let query = sqlx::query(
            "update documents set trusted = $1 where key in (select value from json_each($2))",
        );
        let query = query.bind(trust == DocumentTrust::Trusted).bind(keys);
        self.run("set the trust of documents", query.execute(&self.writer)).await.map(drop)
    }
}
