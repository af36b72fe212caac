//! Catalogs in the database: every definition byte for byte, in the server's order.

use bytes::Bytes;
use sqlx::{Sqlite, Transaction};
use toolgate_model::{CapabilityKind, Catalog, Definition, Digest, ServerName};

use crate::sqlite::{now_millis, time_from_millis};
use crate::{SavedCatalog, SqliteStore, StoreError};

/// The maximum number of catalogs per server name, one per declaration. A changed declaration may
/// be changed back.
const KEPT: i64 = 4;
/// The maximum number of catalogs in total, including those of servers that are no longer declared.
/// The oldest are deleted first, and are read from the server again.
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

/// A row of `catalogs`: protocol, capabilities, server info, instructions, time.
type CatalogRow = (String, String, String, Option<String>, i64);

pub(crate) async fn save(
    state: &SqliteStore,
    server: &ServerName,
    spec: &Digest,
    catalog: &Catalog,
) -> Result<(), StoreError> {
    let action = "store a catalog";
    let mut transaction = state.begin(action).await?;
    write(&mut transaction, server.as_str(), &spec.to_string(), catalog)
        .await
        .map_err(|error| error.into_store_error(state, action))?;
    state.commit(action, transaction).await
}

async fn write(
    transaction: &mut Transaction<'static, Sqlite>,
    server: &str,
    spec: &str,
    catalog: &Catalog,
) -> Result<(), CatalogWriteError> {
    // This also deletes the definitions of the old catalog.
    let old = sqlx::query("delete from catalogs where server = $1 and spec = $2");
    old.bind(server).bind(spec).execute(&mut **transaction).await?;
    let row = sqlx::query(SAVE).bind(server).bind(spec).bind(catalog.protocol.as_str());
    let row = row.bind(as_text(&catalog.capabilities)?).bind(as_text(&catalog.server_info)?);
    row.bind(catalog.instructions.as_deref())
        .bind(now_millis())
        .execute(&mut **transaction)
        .await?;
    for kind in CapabilityKind::ALL {
        for (definition, position) in catalog.definitions(kind).iter().zip(0i64..) {
            let row = sqlx::query(SAVE_DEFINITION).bind(server).bind(spec).bind(kind.as_str());
            let row = row.bind(position).bind(&*definition.name).bind(as_text(&definition.raw)?);
            row.execute(&mut **transaction).await?;
        }
    }
    sqlx::query(PRUNE).bind(server).bind(KEPT).execute(&mut **transaction).await?;
    sqlx::query(PRUNE_ALL).bind(KEPT_IN_ALL).execute(&mut **transaction).await?;
    Ok(())
}

pub(crate) async fn load(
    state: &SqliteStore,
    server: &ServerName,
    spec: &Digest,
) -> Result<Option<SavedCatalog>, StoreError> {
    let action = "read a catalog";
    let spec = spec.to_string();
    // Both queries read the same state, even if another process writes meanwhile.
    let begun = state.pool().begin().await;
    let mut transaction = begun.map_err(|source| state.query_error(action, source))?;
    let row = sqlx::query_as::<_, CatalogRow>(LOAD).bind(server.as_str()).bind(&spec);
    let row = row.fetch_optional(&mut *transaction).await;
    let Some(row) = row.map_err(|source| state.query_error(action, source))? else {
        return Ok(None);
    };
    let rows = sqlx::query_as::<_, (String, String, String)>(LOAD_DEFINITIONS);
    let rows = rows.bind(server.as_str()).bind(&spec).fetch_all(&mut *transaction).await;
    let rows = rows.map_err(|source| state.query_error(action, source))?;
    state.commit(action, transaction).await?;
    catalog_from_rows(row, rows).map(Some).map_err(|what| StoreError::Malformed { action, what })
}

fn catalog_from_rows(
    row: CatalogRow,
    rows: Vec<(String, String, String)>,
) -> Result<SavedCatalog, String> {
    let (protocol, capabilities, server_info, instructions, saved_at) = row;
    let protocol = protocol.parse().map_err(|_| format!("unknown protocol {protocol:?}"))?;
    let mut catalog = Catalog::empty(protocol);
    catalog.capabilities = capabilities.into();
    catalog.server_info = server_info.into();
    catalog.instructions = instructions;
    for (kind, name, raw) in rows {
        let list = CapabilityKind::from_word(&kind).and_then(|kind| catalog.definitions_mut(kind));
        let list = list.ok_or_else(|| format!("unknown kind {kind:?}"))?;
        list.push(Definition { name: name.into(), raw: Bytes::from(raw) });
    }
    Ok(SavedCatalog { catalog, saved_at: time_from_millis(saved_at) })
}

pub(crate) async fn forget(state: &SqliteStore, server: &ServerName) -> Result<bool, StoreError> {
    let query = sqlx::query("delete from catalogs where server = $1").bind(server.as_str());
    let done = query.execute(state.pool()).await;
    let done = done.map_err(|source| state.query_error("delete catalogs", source))?;
    Ok(done.rows_affected() > 0)
}

/// Returns the definition as text. JSON is UTF-8, so other bytes are an error.
fn as_text(raw: &Bytes) -> Result<&str, std::str::Utf8Error> {
    std::str::from_utf8(raw)
}

/// An error of writing a catalog, without the database's path.
enum CatalogWriteError {
    Query(sqlx::Error),
    NotText(std::str::Utf8Error),
}

impl CatalogWriteError {
    fn into_store_error(self, state: &SqliteStore, action: &'static str) -> StoreError {
        match self {
            Self::Query(source) => state.query_error(action, source),
            Self::NotText(error) => StoreError::Malformed { action, what: error.to_string() },
        }
    }
}

impl From<sqlx::Error> for CatalogWriteError {
    fn from(error: sqlx::Error) -> Self {
        Self::Query(error)
    }
}

impl From<std::str::Utf8Error> for CatalogWriteError {
    fn from(error: std::str::Utf8Error) -> Self {
        Self::NotText(error)
    }
}
