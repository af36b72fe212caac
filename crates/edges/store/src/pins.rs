//! Pins in the database: approved definitions, by server and server identity.

use std::collections::BTreeSet;
use std::time::SystemTime;

use bytes::Bytes;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;
use toolgate_model::{CapabilityId, CapabilityKind, Digest, ServerName};

use crate::columns::{self, as_text};
use crate::sqlite::to_millis;
use crate::{StateStore, StoreError};

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
     length(cast(definition as blob)) as bytes, pinned_at from pins order by server, identity, kind, name";

/// The maximum number of identities per server name with pins. A changed declaration may be changed
/// back.
const KEPT: i64 = 4;

const PRUNE: &str = "delete from pins where server = $1 and identity not in \
     (select identity from pins where server = $1 \
      group by identity order by max(pinned_at) desc, identity limit $2)";

/// An approved definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// The server.
    pub server: ServerName,
    /// The identity of the server: the digest of its command or address.
    pub identity: Digest,
    /// The pinned capability, or `None` for the server's instructions.
    pub capability: Option<(CapabilityKind, String)>,
    /// The digest of the definition.
    pub digest: Digest,
    /// The definition itself, to show what changed.
    pub definition: Bytes,
    /// Who approved it: `first listing`, or a person.
    pub by: String,
    /// When it was pinned.
    pub pinned_at: SystemTime,
}

/// A pin without its definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinMetadata {
    /// The server.
    pub server: ServerName,
    /// The identity of the server: the digest of its command or address.
    pub identity: Digest,
    /// The pinned capability, or `None` for the server's instructions.
    pub capability: Option<(CapabilityKind, String)>,
    /// The digest of the definition.
    pub digest: Digest,
    /// The length of the definition in bytes.
    pub bytes: u64,
    /// When it was pinned.
    pub pinned_at: SystemTime,
}

impl From<&Pin> for PinMetadata {
    fn from(pin: &Pin) -> Self {
        Self {
            server: pin.server.clone(),
            identity: pin.identity,
            capability: pin.capability.clone(),
            digest: pin.digest,
            bytes: pin.definition.len() as u64,
            pinned_at: pin.pinned_at,
        }
    }
}

impl StateStore {
    /// Returns every pin.
    pub async fn pins(&self) -> Result<Vec<Pin>, StoreError> {
        let read = |row: &SqliteRow| {
            Ok(Pin {
                server: columns::server(row)?,
                identity: columns::digest(row, "identity")?,
                capability: capability(row)?,
                digest: columns::digest(row, "digest")?,
                definition: Bytes::from(row.try_get::<String, _>("definition")?),
                by: row.try_get("pinned_by")?,
                pinned_at: columns::time(row, "pinned_at")?,
            })
        };
        self.list("read pins", sqlx::query(LIST), read).await
    }

    /// Returns every pin without its definition, which is enough to check definitions.
    pub async fn pin_summaries(&self) -> Result<Vec<PinMetadata>, StoreError> {
        let read = |row: &SqliteRow| {
            Ok(PinMetadata {
                server: columns::server(row)?,
                identity: columns::digest(row, "identity")?,
                capability: capability(row)?,
                digest: columns::digest(row, "digest")?,
                bytes: row.try_get::<i64, _>("bytes")?.unsigned_abs(),
                pinned_at: columns::time(row, "pinned_at")?,
            })
        };
        self.list("read pins", sqlx::query(LIST_HEADS), read).await
    }

    /// Stores pins. Replaces those of the same capability and server identity.
    pub async fn pin(&self, pins: &[Pin]) -> Result<(), StoreError> {
        let store = async {
            let mut transaction = self.begin().await?;
            for pin in pins {
                let (kind, name) = match &pin.capability {
                    Some((kind, name)) => (kind.as_str(), name.as_str()),
                    None => ("", ""),
                };
                let query = sqlx::query(PIN).bind(pin.server.as_str());
                let query = query.bind(pin.identity.to_string()).bind(kind).bind(name);
                let query = query.bind(pin.digest.to_string()).bind(as_text(&pin.definition)?);
                let query = query.bind(&pin.by).bind(to_millis(pin.pinned_at));
                query.execute(&mut *transaction).await?;
            }
            let servers: BTreeSet<_> = pins.iter().map(|pin| pin.server.as_str()).collect();
            for server in servers {
                sqlx::query(PRUNE).bind(server).bind(KEPT).execute(&mut *transaction).await?;
            }
            transaction.commit().await
        };
        self.run("store pins", store).await
    }

    /// Deletes the pins of a server, of one capability or of all. Returns how many.
    pub async fn unpin(
        &self,
        server: &ServerName,
        which: Option<&CapabilityId>,
    ) -> Result<u64, StoreError> {
        let query = match which {
            None => sqlx::query("delete from pins where server = $1").bind(server.as_str()),
            Some(id) => {
                sqlx::query("delete from pins where server = $1 and kind = $2 and name = $3")
                    .bind(server.as_str())
                    .bind(id.kind.as_str())
                    .bind(&*id.name)
            }
        };
        self.execute("delete pins", query).await
    }
}

/// Reads the pinned capability. A pin without a kind is that of the server's instructions.
fn capability(row: &SqliteRow) -> Result<Option<(CapabilityKind, String)>, sqlx::Error> {
    match row.try_get("kind")? {
        "" => Ok(None),
        _ => Ok(Some((columns::kind(row)?, row.try_get("name")?))),
    }
}
