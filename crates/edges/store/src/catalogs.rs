//! Catalogs in the database: every definition byte for byte, in the server's order.

use bytes::Bytes;
use sqlx::{Sqlite, Transaction};
use toolgate_model::{CapabilityKind, Catalog, Definition, Digest, ServerName};

use crate::sqlite::{now, time};
use crate::{SavedCatalog, SqliteState, StoreError};

/// Declarations of one name whose catalogs are kept: a changed one may be changed back.
const KEPT: i64 = 4;
/// Catalogs kept in all, also of servers that nobody declares any more; the oldest go first, and are
/// only read anew.
const KEPT_IN_ALL: i64 = 1024;

const SAVE: &str = "insert into catalogs \
     (server, spec, protocol, capabilities, server_info, instructions, saved_at) \
     values ($1, $2, $3, $4, $5, $6, $7)";

const SAVE_DEFINITION: &str = "insert into definitions (server, spec, kind, position, name, raw) \
     values ($1, $2, $3, $4, $5, $6)";

const PRUNE: &str = "delete from catalogs where server = $1 and spec not in \
     (select spec from catalogs where server = $1 order by saved_at desc, spec limit $2)";

const PRUNE_ALL: &str = "delete from catalogs where (server, spec) not in \
     (select server, spec from catalogs order by saved_at desc, server, spec limit $1)";

const LOAD: &str = "select protocol, capabilities, server_info, instructions, saved_at \
     from catalogs where server = $1 and spec = $2";

const LOAD_DEFINITIONS: &str = "select kind, name, raw from definitions \
     where server = $1 and spec = $2 order by kind, position";

type Row = (String, String, String, Option<String>, i64);

pub(crate) async fn save(
    state: &SqliteState,
    server: &ServerName,
    spec: &Digest,
    catalog: &Catalog,
) -> Result<(), StoreError> {
    let action = "keep a catalog";
    let mut transaction = state.begin(action).await?;
    write(&mut transaction, server.as_str(), &spec.to_string(), catalog)
        .await
        .map_err(|error| error.into_store(state, action))?;
    state.commit(action, transaction).await
}

async fn write(
    transaction: &mut Transaction<'static, Sqlite>,
    server: &str,
    spec: &str,
    catalog: &Catalog,
) -> Result<(), WriteError> {
    // The definitions of the old one go with it.
    let old = sqlx::query("delete from catalogs where server = $1 and spec = $2");
    old.bind(server).bind(spec).execute(&mut **transaction).await?;
    let row = sqlx::query(SAVE).bind(server).bind(spec).bind(catalog.protocol.as_str());
    let row = row.bind(text(&catalog.capabilities)?).bind(text(&catalog.server_info)?);
    row.bind(catalog.instructions.as_deref()).bind(now()).execute(&mut **transaction).await?;
    for kind in CapabilityKind::ALL {
        for (definition, position) in catalog.of(kind).iter().zip(0i64..) {
            let row = sqlx::query(SAVE_DEFINITION).bind(server).bind(spec).bind(kind.as_str());
            let row = row.bind(position).bind(&*definition.name).bind(text(&definition.raw)?);
            row.execute(&mut **transaction).await?;
        }
    }
    sqlx::query(PRUNE).bind(server).bind(KEPT).execute(&mut **transaction).await?;
    sqlx::query(PRUNE_ALL).bind(KEPT_IN_ALL).execute(&mut **transaction).await?;
    Ok(())
}

pub(crate) async fn load(
    state: &SqliteState,
    server: &ServerName,
    spec: &Digest,
) -> Result<Option<SavedCatalog>, StoreError> {
    let action = "read a catalog";
    let spec = spec.to_string();
    // Both queries see one moment, whoever writes meanwhile.
    let begun = state.pool().begin().await;
    let mut transaction = begun.map_err(|source| state.failed(action, source))?;
    let row = sqlx::query_as::<_, Row>(LOAD).bind(server.as_str()).bind(&spec);
    let row = row.fetch_optional(&mut *transaction).await;
    let Some(row) = row.map_err(|source| state.failed(action, source))? else { return Ok(None) };
    let rows = sqlx::query_as::<_, (String, String, String)>(LOAD_DEFINITIONS);
    let rows = rows.bind(server.as_str()).bind(&spec).fetch_all(&mut *transaction).await;
    let rows = rows.map_err(|source| state.failed(action, source))?;
    state.commit(action, transaction).await?;
    catalog(row, rows).map(Some).map_err(|what| StoreError::Malformed { action, what })
}

fn catalog(row: Row, rows: Vec<(String, String, String)>) -> Result<SavedCatalog, String> {
    let (protocol, capabilities, server_info, instructions, saved_at) = row;
    let protocol = protocol.parse().map_err(|_| format!("unknown protocol {protocol:?}"))?;
    let mut catalog = Catalog::empty(protocol);
    catalog.capabilities = capabilities.into();
    catalog.server_info = server_info.into();
    catalog.instructions = instructions;
    for (kind, name, raw) in rows {
        let list = CapabilityKind::from_word(&kind).and_then(|kind| catalog.of_mut(kind));
        let list = list.ok_or_else(|| format!("unknown kind {kind:?}"))?;
        list.push(Definition { name: name.into(), raw: Bytes::from(raw) });
    }
    Ok(SavedCatalog { catalog, saved_at: time(saved_at) })
}

pub(crate) async fn forget(state: &SqliteState, server: &ServerName) -> Result<bool, StoreError> {
    let query = sqlx::query("delete from catalogs where server = $1").bind(server.as_str());
    let done = query.execute(state.pool()).await;
    let done = done.map_err(|source| state.failed("forget catalogs", source))?;
    Ok(done.rows_affected() > 0)
}

/// JSON is UTF-8; what is not was never a definition.
fn text(raw: &Bytes) -> Result<&str, std::str::Utf8Error> {
    std::str::from_utf8(raw)
}

/// Why a catalog could not be written, before it is known where.
enum WriteError {
    Query(sqlx::Error),
    NotText(std::str::Utf8Error),
}

impl WriteError {
    fn into_store(self, state: &SqliteState, action: &'static str) -> StoreError {
        match self {
            Self::Query(source) => state.failed(action, source),
            Self::NotText(error) => StoreError::Malformed { action, what: error.to_string() },
        }
    }
}

impl From<sqlx::Error> for WriteError {
    fn from(error: sqlx::Error) -> Self {
        Self::Query(error)
    }
}

impl From<std::str::Utf8Error> for WriteError {
    fn from(error: std::str::Utf8Error) -> Self {
        Self::NotText(error)
    }
}
