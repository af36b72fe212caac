//! Consents in the database.

use toolgate_model::{Digest, ServerName};

use crate::sqlite::{now, time};
use crate::{Consent, SqliteState, StoreError};

const GRANT: &str = "insert into consents (server, digest, given_at, shown) \
     values ($1, $2, $3, $4) \
     on conflict (server, digest) \
     do update set given_at = excluded.given_at, shown = excluded.shown";

const LIST: &str = "select server, digest, given_at, shown from consents \
     order by server, given_at desc, digest";

pub(crate) async fn grant(
    state: &SqliteState,
    server: &ServerName,
    digest: &Digest,
    shown: &str,
) -> Result<(), StoreError> {
    let query = sqlx::query(GRANT).bind(server.as_str()).bind(digest.to_string());
    let done = query.bind(now()).bind(shown).execute(state.pool()).await;
    done.map(drop).map_err(|source| state.failed("keep a consent", source))
}

pub(crate) async fn revoke(state: &SqliteState, server: &ServerName) -> Result<bool, StoreError> {
    let query = sqlx::query("delete from consents where server = $1").bind(server.as_str());
    let done = query.execute(state.pool()).await;
    let done = done.map_err(|source| state.failed("forget consents", source))?;
    Ok(done.rows_affected() > 0)
}

pub(crate) async fn all(state: &SqliteState) -> Result<Vec<Consent>, StoreError> {
    let action = "read consents";
    let query = sqlx::query_as::<_, (String, String, i64, String)>(LIST);
    let rows = query.fetch_all(state.pool()).await.map_err(|error| state.failed(action, error))?;
    let consents = rows.into_iter().map(|(server, digest, given_at, shown)| {
        let server = ServerName::new(&server)
            .map_err(|error| StoreError::Malformed { action, what: format!("cannot {error}") })?;
        Ok(Consent { server, digest, given_at: time(given_at), shown })
    });
    consents.collect()
}
