//! Keys of callers in the database.

use std::time::SystemTime;

use toolgate_model::Digest;

use crate::sqlite::time;
use crate::{SqliteState, StoreError, bound};

/// A key by which a caller over HTTP is known. The key itself is shown once and not kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AccessKey {
    /// Tells it from an earlier key of the same name.
    pub id: String,
    /// The caller it stands for.
    pub name: String,
    /// The digest of the key.
    pub digest: Digest,
    /// When it was added.
    pub added_at: SystemTime,
    /// Until when it holds, if not for good.
    pub expires_at: Option<SystemTime>,
}

impl AccessKey {
    /// Whether its time is over.
    pub fn is_expired(&self) -> bool {
        self.expires_at.is_some_and(|until| until <= SystemTime::now())
    }
}

const ADD: &str = "insert into keys (id, name, digest, added_at, expires_at) \
     values ($1, $2, $3, $4, $5) on conflict (name) do nothing";

const LIST: &str = "select id, name, digest, added_at, expires_at from keys order by name";

pub(crate) async fn add(state: &SqliteState, key: &AccessKey) -> Result<bool, StoreError> {
    let query = sqlx::query(ADD).bind(&key.id).bind(&key.name).bind(key.digest.to_string());
    let query = query.bind(bound::millis(key.added_at)).bind(key.expires_at.map(bound::millis));
    let done = query.execute(state.pool()).await;
    let done = done.map_err(|source| state.failed("keep a key", source))?;
    Ok(done.rows_affected() > 0)
}

pub(crate) async fn revoke(state: &SqliteState, name: &str) -> Result<bool, StoreError> {
    let query = sqlx::query("delete from keys where name = $1").bind(name);
    let done = query.execute(state.pool()).await;
    let done = done.map_err(|source| state.failed("revoke a key", source))?;
    Ok(done.rows_affected() > 0)
}

pub(crate) async fn all(state: &SqliteState) -> Result<Vec<AccessKey>, StoreError> {
    let action = "read the keys";
    let query = sqlx::query_as::<_, (String, String, String, i64, Option<i64>)>(LIST);
    let rows = query.fetch_all(state.pool()).await.map_err(|error| state.failed(action, error))?;
    let keys = rows.into_iter().map(|(id, name, digest, added_at, expires_at)| {
        let digest = bound::digest(&digest);
        let digest = digest.map_err(|what| StoreError::Malformed { action, what })?;
        let (added_at, expires_at) = (time(added_at), expires_at.map(time));
        Ok(AccessKey { id, name, digest, added_at, expires_at })
    });
    keys.collect()
}
