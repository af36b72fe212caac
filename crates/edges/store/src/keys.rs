//! Access keys in the database.

use std::time::SystemTime;

use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;
use toolgate_model::Digest;

use crate::sqlite::to_millis;
use crate::{StateStore, StoreError, columns};

/// The record of a key that identifies a caller over HTTP. The key itself is shown once and not
/// stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AccessKey {
    /// An id that distinguishes it from an earlier key of the same name.
    pub id: String,
    /// The caller that it identifies.
    pub name: String,
    /// The digest of the key.
    pub digest: Digest,
    /// When it was added.
    pub added_at: SystemTime,
    /// When it expires, if ever.
    pub expires_at: Option<SystemTime>,
}

impl AccessKey {
    /// Returns true if the key has expired.
    pub fn is_expired(&self) -> bool {
        self.expires_at.is_some_and(|until| until <= SystemTime::now())
    }
}

const ADD: &str = "insert into keys (id, name, digest, added_at, expires_at) \
     values ($1, $2, $3, $4, $5) on conflict (name) do nothing";

const LIST: &str = "select id, name, digest, added_at, expires_at from keys order by name";

impl StateStore {
    /// Stores the key of a caller. Returns false if the caller already has one.
    pub async fn add_key(&self, key: &AccessKey) -> Result<bool, StoreError> {
        let query = sqlx::query(ADD).bind(&key.id).bind(&key.name).bind(key.digest.to_string());
        let query = query.bind(to_millis(key.added_at)).bind(key.expires_at.map(to_millis));
        Ok(self.execute("store an access key", query).await? > 0)
    }

    /// Deletes the key of a caller. Returns true if there was one.
    pub async fn revoke_key(&self, name: &str) -> Result<bool, StoreError> {
        let query = sqlx::query("delete from keys where name = $1").bind(name);
        Ok(self.execute("revoke an access key", query).await? > 0)
    }

    /// Returns every key, by name.
    pub async fn keys(&self) -> Result<Vec<AccessKey>, StoreError> {
        let read = |row: &SqliteRow| {
            Ok(AccessKey {
                id: row.try_get("id")?,
                name: row.try_get("name")?,
                digest: columns::digest(row, "digest")?,
                added_at: columns::time(row, "added_at")?,
                expires_at: columns::optional_time(row, "expires_at")?,
            })
        };
        self.list("read the access keys", sqlx::query(LIST), read).await
    }
}
