//! Access keys in the database.

use std::time::SystemTime;

use toolgate_model::Digest;

use crate::sqlite::time_from_millis;
use crate::{SqliteStore, StoreError, binding};

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

pub(crate) async fn add(state: &SqliteStore, key: &AccessKey) -> Result<bool, StoreError> {
    let query = sqlx::query(ADD).bind(&key.id).bind(&key.name).bind(key.digest.to_string());
    let query =
        query.bind(binding::to_millis(key.added_at)).bind(key.expires_at.map(binding::to_millis));
    let done = query.execute(state.pool()).await;
    let done = done.map_err(|source| state.query_error("store an access key", source))?;
    Ok(done.rows_affected() > 0)
}

pub(crate) async fn revoke(state: &SqliteStore, name: &str) -> Result<bool, StoreError> {
    let query = sqlx::query("delete from keys where name = $1").bind(name);
    let done = query.execute(state.pool()).await;
    let done = done.map_err(|source| state.query_error("revoke an access key", source))?;
    Ok(done.rows_affected() > 0)
}

pub(crate) async fn all(state: &SqliteStore) -> Result<Vec<AccessKey>, StoreError> {
    let action = "read the access keys";
    let query = sqlx::query_as::<_, (String, String, String, i64, Option<i64>)>(LIST);
    let rows =
        query.fetch_all(state.pool()).await.map_err(|error| state.query_error(action, error))?;
    let keys = rows.into_iter().map(|(id, name, digest, added_at, expires_at)| {
        let digest = binding::parse_digest(&digest);
        let digest = digest.map_err(|what| StoreError::Malformed { action, what })?;
        let (added_at, expires_at) = (time_from_millis(added_at), expires_at.map(time_from_millis));
        Ok(AccessKey { id, name, digest, added_at, expires_at })
    });
    keys.collect()
}
