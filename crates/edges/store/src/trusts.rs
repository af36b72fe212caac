//! Trust in the database: the servers whose tools run without asking the user.

use toolgate_model::{Digest, ServerName};

use crate::sqlite::now_millis;
use crate::{ServerTrust, SqliteStore, StoreError};

const TRUST: &str = "insert into trusts (server, digest, given_at) values ($1, $2, $3) \
     on conflict (server, digest) do update set given_at = excluded.given_at";

const LIST: &str = "select server, digest from trusts order by server, given_at desc, digest";

pub(crate) async fn save(
    state: &SqliteStore,
    server: &ServerName,
    digest: &Digest,
) -> Result<(), StoreError> {
    let query =
        sqlx::query(TRUST).bind(server.as_str()).bind(digest.to_string()).bind(now_millis());
    let done = query.execute(state.pool()).await;
    done.map(drop).map_err(|source| state.query_error("store trust in a server", source))
}

pub(crate) async fn revoke(state: &SqliteStore, server: &ServerName) -> Result<bool, StoreError> {
    let query = sqlx::query("delete from trusts where server = $1").bind(server.as_str());
    let done = query.execute(state.pool()).await;
    let done = done.map_err(|source| state.query_error("delete trust in a server", source))?;
    Ok(done.rows_affected() > 0)
}

pub(crate) async fn all(state: &SqliteStore) -> Result<Vec<ServerTrust>, StoreError> {
    let action = "read the trusted servers";
    let query = sqlx::query_as::<_, (String, String)>(LIST);
    let rows =
        query.fetch_all(state.pool()).await.map_err(|error| state.query_error(action, error))?;
    let trusts = rows.into_iter().map(|(server, digest)| {
        let server = ServerName::new(&server)
            .map_err(|error| StoreError::Malformed { action, what: error.to_string() })?;
        Ok(ServerTrust { server, digest })
    });
    trusts.collect()
}
