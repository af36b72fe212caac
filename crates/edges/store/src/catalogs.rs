//! Catalogs in the database: every definition byte for byte, in the server's order.

use std::time::SystemTime;

use bytes::Bytes;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, Sqlite, Transaction};
use toolgate_model::{CapabilityKind, Catalog, Definition, Digest, ServerName};

use crate::columns::{self, as_text, malformed};
use crate::sqlite::now_millis;
use crate::{StateStore, StoreError};

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

/// A stored catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedCatalog {
    /// The catalog.
    pub catalog: Catalog,
    /// When it was stored.
    pub saved_at: SystemTime,
}

impl StateStore {
    /// Stores the catalog of a server that is declared as `spec`.
    pub async fn save_catalog(
        &self,
        server: &ServerName,
        spec: &Digest,
        catalog: &Catalog,
    ) -> Result<(), StoreError> {
        let save = async {
            let mut transaction = self.begin().await?;
            write(&mut transaction, server.as_str(), &spec.to_string(), catalog).await?;
            transaction.commit().await
        };
        self.run("store a catalog", save).await
    }

    /// Returns the last known catalog of a server that is declared as `spec`.
    pub async fn catalog(
        &self,
        server: &ServerName,
        spec: &Digest,
    ) -> Result<Option<SavedCatalog>, StoreError> {
        let load = async {
            let select = |sql| sqlx::query(sql).bind(server.as_str()).bind(spec.to_string());
            // Both queries read the same state, even if another process writes meanwhile.
            let mut transaction = self.pool().begin().await?;
            let row = select(LOAD).fetch_optional(&mut *transaction).await?;
            let Some(row) = row else { return Ok(None) };
            let rows = select(LOAD_DEFINITIONS).fetch_all(&mut *transaction).await?;
            transaction.commit().await?;
            read(&row, &rows).map(Some)
        };
        self.run("read a catalog", load).await
    }
}

async fn write(
    transaction: &mut Transaction<'static, Sqlite>,
    server: &str,
    spec: &str,
    catalog: &Catalog,
) -> Result<(), sqlx::Error> {
    // This also deletes the definitions of the old catalog.
    let old = sqlx::query("delete from catalogs where server = $1 and spec = $2");
    old.bind(server).bind(spec).execute(&mut **transaction).await?;
    let row = sqlx::query(SAVE).bind(server).bind(spec).bind(catalog.protocol.as_str());
    let row = row.bind(as_text(&catalog.capabilities)?).bind(as_text(&catalog.server_info)?);
    let row = row.bind(catalog.instructions.as_deref()).bind(now_millis());
    row.execute(&mut **transaction).await?;
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

fn read(row: &SqliteRow, definitions: &[SqliteRow]) -> Result<SavedCatalog, sqlx::Error> {
    let protocol: &str = row.try_get("protocol")?;
    let protocol =
        protocol.parse().map_err(|_| malformed(format!("unknown protocol {protocol:?}")))?;
    let mut catalog = Catalog::empty(protocol);
    catalog.capabilities = row.try_get::<String, _>("capabilities")?.into();
    catalog.server_info = row.try_get::<String, _>("server_info")?.into();
    catalog.instructions = row.try_get("instructions")?;
    for row in definitions {
        let kind = columns::kind(row)?;
        let list = catalog.definitions_mut(kind);
        let list = list.ok_or_else(|| malformed(format!("a catalog has no {}", kind.as_str())))?;
        let (name, raw) = (row.try_get::<&str, _>("name")?, row.try_get::<String, _>("raw")?);
        list.push(Definition { name: name.into(), raw: Bytes::from(raw) });
    }
    Ok(SavedCatalog { catalog, saved_at: columns::time(row, "saved_at")? })
}
