//! Pins in the database: the definitions that were approved, by server and its identity.

use std::collections::BTreeSet;

use bytes::Bytes;
use sqlx::{Sqlite, Transaction};
use toolgate_model::{CapabilityId, ServerName};

use crate::sqlite::time;
use crate::{Pin, Pinned, SqliteState, StoreError, bound};

/// A definition that was pinned before as it is now has been so since then. Another one is later
/// than every grant for its server: such a grant does not mean it, whatever the clock does.
const PIN: &str = "insert into pins \
     (server, identity, kind, name, digest, definition, pinned_by, pinned_at) \
     values ($1, $2, $3, $4, $5, $6, $7, max($8, coalesce((select max(given_at) + 1 from grants \
         where choice = 'server' and server = $1 and identity = $2), 0))) \
     on conflict (server, identity, kind, name) do update set \
     pinned_at = case when pins.digest = excluded.digest then pins.pinned_at \
         else excluded.pinned_at end, \
     digest = excluded.digest, definition = excluded.definition, pinned_by = excluded.pinned_by";

const LIST: &str = "select server, identity, kind, name, digest, definition, pinned_by, pinned_at \
     from pins order by server, identity, kind, name";

const LIST_HEADS: &str = "select server, identity, kind, name, digest, \
     length(cast(definition as blob)), pinned_at from pins order by server, identity, kind, name";

/// Declarations of one name whose pins are kept: a changed one may be changed back.
const KEPT: i64 = 4;

const PRUNE: &str = "delete from pins where server = $1 and identity not in \
     (select identity from pins where server = $1 \
      group by identity order by max(pinned_at) desc, identity limit $2)";

type Row = (String, String, String, String, String, String, String, i64);

type Head = (String, String, String, String, String, i64, i64);

pub(crate) async fn pin(state: &SqliteState, pins: &[Pin]) -> Result<(), StoreError> {
    let action = "keep pins";
    let mut transaction = state.begin(action).await?;
    for pin in pins {
        let definition = std::str::from_utf8(&pin.definition);
        let definition = definition
            .map_err(|error| StoreError::Malformed { action, what: error.to_string() })?;
        let written = write(&mut transaction, pin, definition).await;
        written.map_err(|source| state.failed(action, source))?;
    }
    let servers: BTreeSet<_> = pins.iter().map(|pin| pin.server.as_str()).collect();
    for server in servers {
        let query = sqlx::query(PRUNE).bind(server).bind(KEPT);
        let pruned = query.execute(&mut *transaction).await;
        pruned.map_err(|source| state.failed(action, source))?;
    }
    state.commit(action, transaction).await
}

async fn write(
    transaction: &mut Transaction<'_, Sqlite>,
    pin: &Pin,
    definition: &str,
) -> Result<(), sqlx::Error> {
    let (kind, name) = match &pin.capability {
        Some((kind, name)) => (kind.as_str(), name.as_str()),
        None => ("", ""),
    };
    let query = sqlx::query(PIN).bind(pin.server.as_str()).bind(pin.identity.to_string());
    let query = query.bind(kind).bind(name).bind(pin.digest.to_string()).bind(definition);
    let query = query.bind(&pin.by).bind(bound::millis(pin.pinned_at));
    query.execute(&mut **transaction).await.map(drop)
}

pub(crate) async fn all(state: &SqliteState) -> Result<Vec<Pin>, StoreError> {
    let action = "read pins";
    let rows = sqlx::query_as::<_, Row>(LIST).fetch_all(state.pool()).await;
    let rows = rows.map_err(|source| state.failed(action, source))?;
    let pins = rows.into_iter().map(read).collect::<Result<_, _>>();
    pins.map_err(|what| StoreError::Malformed { action, what })
}

pub(crate) async fn heads(state: &SqliteState) -> Result<Vec<Pinned>, StoreError> {
    let action = "read pins";
    let rows = sqlx::query_as::<_, Head>(LIST_HEADS).fetch_all(state.pool()).await;
    let rows = rows.map_err(|source| state.failed(action, source))?;
    let heads = rows.into_iter().map(read_head).collect::<Result<_, _>>();
    heads.map_err(|what| StoreError::Malformed { action, what })
}

fn read(row: Row) -> Result<Pin, String> {
    let (server, identity, kind, name, digest, definition, by, pinned_at) = row;
    let bytes = i64::try_from(definition.len()).unwrap_or(i64::MAX);
    let head = read_head((server, identity, kind, name, digest, bytes, pinned_at))?;
    let Pinned { server, identity, capability, digest, pinned_at, .. } = head;
    let definition = Bytes::from(definition);
    Ok(Pin { server, identity, capability, digest, definition, by, pinned_at })
}

fn read_head(row: Head) -> Result<Pinned, String> {
    let (server, identity, kind, name, digest, bytes, pinned_at) = row;
    let capability = match kind.as_str() {
        "" => None,
        kind => Some((bound::kind(kind)?, name)),
    };
    Ok(Pinned {
        server: ServerName::new(&server).map_err(|error| format!("cannot {error}"))?,
        identity: bound::digest(&identity)?,
        capability,
        digest: bound::digest(&digest)?,
        bytes: bytes.unsigned_abs(),
        pinned_at: time(pinned_at),
    })
}

pub(crate) async fn unpin(
    state: &SqliteState,
    server: &ServerName,
    which: Option<&CapabilityId>,
) -> Result<u64, StoreError> {
    let query = match which {
        None => sqlx::query("delete from pins where server = $1").bind(server.as_str()),
        Some(id) => sqlx::query("delete from pins where server = $1 and kind = $2 and name = $3")
            .bind(server.as_str())
            .bind(id.kind.as_str())
            .bind(&*id.name),
    };
    let done = query.execute(state.pool()).await;
    let done = done.map_err(|source| state.failed("forget pins", source))?;
    Ok(done.rows_affected())
}
