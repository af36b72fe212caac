//! Consents in the database.

use toolgate_model::{Digest, ServerName};

use crate::sqlite::{now_millis, time_from_millis};
use crate::{Consent, SqliteStore, StoreError};

const GRANT: &str = "insert into consents (server, digest, given_at, shown) \
     values ($1, $2, $3, $4) \
     on conflict (server, digest) \
     do update set given_at = excluded.given_at, shown = excluded.shown";

const LIST: &str = "select server, digest, given_at, shown from consents \
     order by server, given_at desc, digest";

pub(crate) async fn give(
    state: &SqliteStore,
    server: &ServerName,
    digest: &Digest,
    shown: &str,
) -> Result<(), StoreError> {
    let query = sqlx::query(GRANT).bind(server.as_str()).bind(digest.to_string());
    let done = query.bind(now_millis()).bind(shown).execute(state.pool()).await;
    done.map(drop).map_err(|source| state.query_error("store a consent", source))
}

pub(crate) async fn revoke(state: &SqliteStore, server: &ServerName) -> Result<bool, StoreError> {
    let query = sqlx::query("delete from consents where server = $1").bind(server.as_str());
    let done = query.execute(state.pool()).await;
    let done = done.map_err(|source| state.query_error("delete consents", source))?;
    Ok(done.rows_affected() > 0)
}

pub(crate) async fn all(state: &SqliteStore) -> Result<Vec<Consent>, StoreError> {
    let action = "read consents";
    let query = sqlx::query_as::<_, (String, String, i64, String)>(LIST);
    let rows =
        query.fetch_all(state.pool()).await.map_err(|error| state.query_error(action, error))?;
    let consents = rows.into_iter().map(|(server, digest, given_at, shown)| {
        let server = ServerName::new(&server)
            .map_err(|error| StoreError::Malformed { action, what: error.to_string() })?;
        Ok(Consent { server, digest, given_at: time_from_millis(given_at), shown })
    });
    consents.collect()
}
