//! Grants in the database. Deleting the row of a one-time grant consumes it, so only one of several
//! concurrent calls can use it.

use sqlx::sqlite::SqliteRow;
use sqlx::{FromRow, Row as _, Sqlite, Transaction};
use toolgate_model::Digest;

use crate::binding::{self, bound_columns};
use crate::sqlite::time_from_millis;
use crate::{ApprovalBinding, ApprovalChoice, Grant, GrantSelector, SqliteStore, StoreError};

macro_rules! columns {
    () => {
        concat!(
            "id, choice, ",
            bound_columns!(),
            ", arguments_digest, given_by, given_at, expires_at"
        )
    };
}

/// Deletes an earlier grant of the same permission, which the new one replaces.
const REPLACED: &str = "delete from grants where choice = $1 and caller = $2 and client = $3 \
     and server = $4 and identity = $5 and (choice = 'server' \
     or (kind = $6 and name = $7 and definition = $8 \
         and coalesce(arguments_digest, '') = coalesce($9, '')))";

/// Selects the time of the server's last pin. A grant for a whole server gets a time not before all
/// its pins, and a pin a time after all earlier grants, so that the times follow the order of
/// writing even if the clock changes.
const LAST_PIN: &str = "select max(pinned_at) from pins where server = $1 and identity = $2";

const KEEP: &str = concat!(
    "insert into grants (",
    columns!(),
    ") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"
);

const SPEND: &str = "delete from grants where id = (select id from grants \
     where choice = 'once' and arguments_digest = $1 and caller = $2 and client = $3 \
     and server = $4 and kind = $5 and name = $6 and identity = $7 and definition = $8 \
     and expires_at > $9 and given_at <= $10 order by given_at, id limit 1) returning id";

const LIST: &str = concat!(
    "select ",
    columns!(),
    " from grants where expires_at is null or (expires_at > $1 and given_at <= $2) \
      order by given_at desc, id"
);

const PRUNE: &str = "delete from grants where expires_at <= $1";

/// A row of `grants`.
struct GrantRow {
    id: String,
    choice: String,
    binding: binding::ApprovalBindingRow,
    arguments_digest: Option<String>,
    given_by: String,
    given_at: i64,
    expires_at: Option<i64>,
}

impl FromRow<'_, SqliteRow> for GrantRow {
    fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: row.try_get("id")?,
            choice: row.try_get("choice")?,
            binding: binding::ApprovalBindingRow::from_row(row)?,
            arguments_digest: row.try_get("arguments_digest")?,
            given_by: row.try_get("given_by")?,
            given_at: row.try_get("given_at")?,
            expires_at: row.try_get("expires_at")?,
        })
    }
}

impl GrantRow {
    fn into_grant(self) -> Result<Grant, String> {
        let digest = self.arguments_digest.as_deref().map(binding::parse_digest).transpose()?;
        Ok(Grant {
            id: self.id,
            choice: binding::parse_choice(&self.choice)?,
            binding: self.binding.into_binding()?,
            arguments_digest: digest,
            by: self.given_by,
            given_at: time_from_millis(self.given_at),
            expires_at: self.expires_at.map(time_from_millis),
        })
    }
}

/// Stores a grant. Returns it with its stored time.
pub(crate) async fn keep(
    transaction: &mut Transaction<'_, Sqlite>,
    mut grant: Grant,
) -> Result<Grant, sqlx::Error> {
    let ApprovalBinding { caller, client, tool, identity, definition } = &grant.binding;
    let (identity, definition) = (identity.to_string(), definition.to_string());
    let arguments = grant.arguments_digest.map(|digest| digest.to_string());
    let mut given_at = binding::to_millis(grant.given_at);
    sqlx::query(PRUNE).bind(given_at).execute(&mut **transaction).await?;
    let query = sqlx::query(REPLACED).bind(grant.choice.as_str()).bind(caller).bind(client);
    let query = query.bind(tool.server.as_str()).bind(&identity);
    let query = query.bind(tool.kind.as_str()).bind(&*tool.name).bind(&definition);
    query.bind(&arguments).execute(&mut **transaction).await?;
    if grant.choice == ApprovalChoice::Server {
        let query = sqlx::query_scalar::<_, Option<i64>>(LAST_PIN).bind(tool.server.as_str());
        let last = query.bind(&identity).fetch_one(&mut **transaction).await?;
        given_at = given_at.max(last.unwrap_or_default());
    }
    let query = sqlx::query(KEEP).bind(&grant.id).bind(grant.choice.as_str());
    let query = query.bind(caller).bind(client);
    let query = query.bind(tool.server.as_str()).bind(tool.kind.as_str()).bind(&*tool.name);
    let query = query.bind(identity).bind(definition).bind(arguments).bind(&grant.by);
    let query = query.bind(given_at).bind(grant.expires_at.map(binding::to_millis));
    query.execute(&mut **transaction).await?;
    grant.given_at = time_from_millis(given_at);
    Ok(grant)
}

pub(crate) async fn consume_once(
    state: &SqliteStore,
    bound: &ApprovalBinding,
    arguments: &Digest,
) -> Result<Option<String>, StoreError> {
    let ApprovalBinding { caller, client, tool, identity, definition } = bound;
    let (now, begun) = binding::validity_window();
    let query = sqlx::query_scalar::<_, String>(SPEND).bind(arguments.to_string());
    let query = query.bind(caller).bind(client).bind(tool.server.as_str());
    let query = query.bind(tool.kind.as_str()).bind(&*tool.name);
    let query = query.bind(identity.to_string()).bind(definition.to_string());
    let spent = query.bind(now).bind(begun).fetch_optional(state.pool()).await;
    spent.map_err(|source| state.query_error("use a one-time grant", source))
}

pub(crate) async fn all(state: &SqliteStore) -> Result<Vec<Grant>, StoreError> {
    let action = "read grants";
    let (now, begun) = binding::validity_window();
    let query = sqlx::query_as::<_, GrantRow>(LIST).bind(now).bind(begun);
    let rows = query.fetch_all(state.pool()).await;
    let rows = rows.map_err(|source| state.query_error(action, source))?;
    let grants = rows.into_iter().map(GrantRow::into_grant).collect::<Result<_, _>>();
    grants.map_err(|what| StoreError::Malformed { action, what })
}

pub(crate) async fn revoke(state: &SqliteStore, which: &GrantSelector) -> Result<u64, StoreError> {
    let query = match which {
        GrantSelector::Id(id) => sqlx::query("delete from grants where id = $1").bind(id),
        GrantSelector::Server(server) => {
            sqlx::query("delete from grants where server = $1").bind(server.as_str())
        }
        // A grant for the whole server is not a grant for this tool. It never applies to a
        // definition that was pinned after it.
        GrantSelector::Tool(tool) => sqlx::query(
            "delete from grants where server = $1 and kind = $2 and name = $3 \
             and choice <> 'server'",
        )
        .bind(tool.server.as_str())
        .bind(tool.kind.as_str())
        .bind(&*tool.name),
    };
    let done = query.execute(state.pool()).await;
    let done = done.map_err(|source| state.query_error("revoke grants", source))?;
    Ok(done.rows_affected())
}
