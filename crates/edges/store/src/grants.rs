//! Grants in the database. Deleting the row of a one-time grant consumes it, so only one of several
//! concurrent calls can use it.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, Sqlite, Transaction};
use toolgate_model::Digest;

use crate::columns::{self, bind_binding, validity_window};
use crate::sqlite::{time_from_millis, to_millis};
use crate::{ApprovalBinding, ApprovalChoice, Grant, GrantSelector, StateStore, StoreError};

/// Deletes an earlier grant of the same permission, which the new one replaces.
const REPLACED: &str = "delete from grants where caller = $1 and client = $2 and server = $3 \
     and identity = $6 and choice = $8 and (choice = 'server' \
     or (kind = $4 and name = $5 and definition = $7 \
         and coalesce(arguments_digest, '') = coalesce($9, '')))";

/// Selects the time of the server's last pin. A grant for a whole server gets a time not before all
/// its pins, and a pin a time after all earlier grants, so that the times follow the order of
/// writing even if the clock changes.
const LAST_PIN: &str = "select max(pinned_at) from pins where server = $1 and identity = $2";

const KEEP: &str = "insert into grants (caller, client, server, kind, name, identity, definition, \
     id, choice, arguments_digest, given_by, given_at, expires_at) \
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";

const CONSUME: &str = "delete from grants where id = (select id from grants \
     where caller = $1 and client = $2 and server = $3 and kind = $4 and name = $5 \
     and identity = $6 and definition = $7 and choice = 'once' and arguments_digest = $8 \
     and expires_at > $9 and given_at <= $10 order by given_at, id limit 1) returning id";

const LIST: &str = "select * from grants \
     where expires_at is null or (expires_at > $1 and given_at <= $2) \
     order by given_at desc, id";

const PRUNE: &str = "delete from grants where expires_at <= $1";

impl StateStore {
    /// Consumes a one-time grant for exactly this call and returns its id, or `None` if there is no
    /// such grant.
    pub async fn consume_once_grant(
        &self,
        bound: &ApprovalBinding,
        arguments: &Digest,
    ) -> Result<Option<String>, StoreError> {
        let (now, begun) = validity_window();
        let query = bind_binding(sqlx::query(CONSUME), bound).bind(arguments.to_string());
        self.find("use a one-time grant", query.bind(now).bind(begun), |row| row.try_get("id"))
            .await
    }

    /// Returns every grant that is not consumed, expired or revoked, newest first.
    pub async fn grants(&self) -> Result<Vec<Grant>, StoreError> {
        let (now, begun) = validity_window();
        self.list("read grants", sqlx::query(LIST).bind(now).bind(begun), read).await
    }

    /// Revokes grants. Returns how many.
    pub async fn revoke_grants(&self, which: &GrantSelector) -> Result<u64, StoreError> {
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
        self.execute("revoke grants", query).await
    }
}

/// Stores a grant. Returns it with its stored time.
pub(crate) async fn keep(
    transaction: &mut Transaction<'_, Sqlite>,
    mut grant: Grant,
) -> Result<Grant, sqlx::Error> {
    let bound = &grant.binding;
    let (choice, arguments) =
        (grant.choice.as_str(), grant.arguments_digest.map(|it| it.to_string()));
    let mut given_at = to_millis(grant.given_at);
    sqlx::query(PRUNE).bind(given_at).execute(&mut **transaction).await?;
    let query = bind_binding(sqlx::query(REPLACED), bound).bind(choice).bind(&arguments);
    query.execute(&mut **transaction).await?;
    if grant.choice == ApprovalChoice::Server {
        let query = sqlx::query_scalar::<_, Option<i64>>(LAST_PIN).bind(bound.tool.server.as_str());
        let last = query.bind(bound.identity.to_string()).fetch_one(&mut **transaction).await?;
        given_at = given_at.max(last.unwrap_or_default());
    }
    let query = bind_binding(sqlx::query(KEEP), bound).bind(&grant.id).bind(choice);
    let query = query.bind(arguments).bind(&grant.by).bind(given_at);
    query.bind(grant.expires_at.map(to_millis)).execute(&mut **transaction).await?;
    grant.given_at = time_from_millis(given_at);
    Ok(grant)
}

fn read(row: &SqliteRow) -> Result<Grant, sqlx::Error> {
    let has_arguments = row.try_get::<Option<&str>, _>("arguments_digest")?.is_some();
    let arguments = has_arguments.then(|| columns::digest(row, "arguments_digest"));
    Ok(Grant {
        id: row.try_get("id")?,
        choice: columns::choice(row)?,
        binding: columns::binding(row)?,
        arguments_digest: arguments.transpose()?,
        by: row.try_get("given_by")?,
        given_at: columns::time(row, "given_at")?,
        expires_at: columns::optional_time(row, "expires_at")?,
    })
}
