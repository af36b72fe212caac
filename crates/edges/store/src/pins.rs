//! Pins in the database: approved definitions, by server and server identity.

use std::collections::BTreeSet;

use bytes::Bytes;
use sqlx::{Sqlite, Transaction};
use toolgate_model::{CapabilityId, ServerName};

use crate::sqlite::time_from_millis;
use crate::{Pin, PinSummary, SqliteStore, StoreError, binding};

/// Stores a pin. An unchanged definition keeps its time. A changed one gets a time after every
/// grant for its server, so that no earlier grant applies to it even if the clock changes.
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

/// The maximum number of identities per server name with pins. A changed declaration may be changed
/// back.
const KEPT: i64 = 4;

const PRUNE: &str = "delete from pins where server = $1 and identity not in \
     (select identity from pins where server = $1 \
      group by identity order by max(pinned_at) desc, identity limit $2)";

/// A row of `pins` with its definition.
type StoredPinRow = (String, String, String, String, String, String, String, i64);

/// A row of `pins` with the length of its definition.
type PinSummaryRow = (String, String, String, String, String, i64, i64);

pub(crate) async fn pin(state: &SqliteStore, pins: &[Pin]) -> Result<(), StoreError> {
    let action = "store pins";
    let mut transaction = state.begin(action).await?;
    for pin in pins {
        let definition = std::str::from_utf8(&pin.definition);
        let definition = definition
            .map_err(|error| StoreError::Malformed { action, what: error.to_string() })?;
        let written = write(&mut transaction, pin, definition).await;
        written.map_err(|source| state.query_error(action, source))?;
    }
    let servers: BTreeSet<_> = pins.iter().map(|pin| pin.server.as_str()).collect();
    for server in servers {
        let query = sqlx::query(PRUNE).bind(server).bind(KEPT);
        let pruned = query.execute(&mut *transaction).await;
        pruned.map_err(|source| state.query_error(action, source))?;
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
    let query = query.bind(&pin.by).bind(binding::to_millis(pin.pinned_at));
    query.execute(&mut **transaction).await.map(drop)
}

pub(crate) async fn all(state: &SqliteStore) -> Result<Vec<Pin>, StoreError> {
    let action = "read pins";
    let rows = sqlx::query_as::<_, StoredPinRow>(LIST).fetch_all(state.pool()).await;
    let rows = rows.map_err(|source| state.query_error(action, source))?;
    let pins = rows.into_iter().map(pin_from_row).collect::<Result<_, _>>();
    pins.map_err(|what| StoreError::Malformed { action, what })
}

pub(crate) async fn summaries(state: &SqliteStore) -> Result<Vec<PinSummary>, StoreError> {
    let action = "read pins";
    let rows = sqlx::query_as::<_, PinSummaryRow>(LIST_HEADS).fetch_all(state.pool()).await;
    let rows = rows.map_err(|source| state.query_error(action, source))?;
    let heads = rows.into_iter().map(summary_from_row).collect::<Result<_, _>>();
    heads.map_err(|what| StoreError::Malformed { action, what })
}

fn pin_from_row(row: StoredPinRow) -> Result<Pin, String> {
    let (server, identity, kind, name, digest, definition, by, pinned_at) = row;
    let bytes = i64::try_from(definition.len()).unwrap_or(i64::MAX);
    let head = summary_from_row((server, identity, kind, name, digest, bytes, pinned_at))?;
    let PinSummary { server, identity, capability, digest, pinned_at, .. } = head;
    let definition = Bytes::from(definition);
    Ok(Pin { server, identity, capability, digest, definition, by, pinned_at })
}

fn summary_from_row(row: PinSummaryRow) -> Result<PinSummary, String> {
    let (server, identity, kind, name, digest, bytes, pinned_at) = row;
    let capability = match kind.as_str() {
        "" => None,
        kind => Some((binding::parse_kind(kind)?, name)),
    };
    Ok(PinSummary {
        server: ServerName::new(&server).map_err(|error| error.to_string())?,
        identity: binding::parse_digest(&identity)?,
        capability,
        digest: binding::parse_digest(&digest)?,
        bytes: bytes.unsigned_abs(),
        pinned_at: time_from_millis(pinned_at),
    })
}

pub(crate) async fn unpin(
    state: &SqliteStore,
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
    let done = done.map_err(|source| state.query_error("delete pins", source))?;
    Ok(done.rows_affected())
}
