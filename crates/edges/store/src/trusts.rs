//! Trust in the database: whose tools the user does not want to be asked about.

use toolgate_model::{Digest, ServerName};

use crate::sqlite::now;
use crate::{SqliteState, StoreError, Trust};

const TRUST: &str = "insert into trusts (server, digest, given_at) values ($1, $2, $3) \
     on conflict (server, digest) do update set given_at = excluded.given_at";

const LIST: &str = "select server, digest from trusts order by server, given_at desc, digest";

pub(crate) async fn trust(
    state: &SqliteState,
    server: &ServerName,
    digest: &Digest,
) -> Result<(), StoreError> {
    let query = sqlx::query(TRUST).bind(server.as_str()).bind(digest.to_string()).bind(now());
    let done = query.execute(state.pool()).await;
    done.map(drop).map_err(|source| state.failed("keep a trust", source))
}

pub(crate) async fn distrust(state: &SqliteState, server: &ServerName) -> Result<bool, StoreError> {
    let query = sqlx::query("delete from trusts where server = $1").bind(server.as_str());
    let done = query.execute(state.pool()).await;
    let done = done.map_err(|source| state.failed("forget a trust", source))?;
    Ok(done.rows_affected() > 0)
}

pub(crate) async fn all(state: &SqliteState) -> Result<Vec<Trust>, StoreError> {
    let action = "read whom you trust";
    let query = sqlx::query_as::<_, (String, String)>(LIST);
    let rows = query.fetch_all(state.pool()).await.map_err(|error| state.failed(action, error))?;
    let trusts = rows.into_iter().map(|(server, digest)| {
        let server = ServerName::new(&server)
            .map_err(|error| StoreError::Malformed { action, what: format!("cannot {error}") })?;
        Ok(Trust { server, digest })
    });
    trusts.collect()
}
