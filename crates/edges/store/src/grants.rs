//! Grants in the database. A one-time grant is used up by deleting its row: of several who try at
//! the same time, one deletes it.

use sqlx::sqlite::SqliteRow;
use sqlx::{FromRow, Row as _, Sqlite, Transaction};
use toolgate_model::Digest;

use crate::bound::{self, bound_columns};
use crate::sqlite::time;
use crate::{Bound, Choice, Grant, SqliteState, StoreError, Which};

macro_rules! columns {
    () => {
        concat!(
            "id, choice, ",
            bound_columns!(),
            ", arguments_digest, given_by, given_at, expires_at"
        )
    };
}

/// The same permission given before: the newer one counts.
const REPLACED: &str = "delete from grants where choice = $1 and caller = $2 and client = $3 \
     and server = $4 and identity = $5 and (choice = 'server' \
     or (kind = $6 and name = $7 and definition = $8 \
         and coalesce(arguments_digest, '') = coalesce($9, '')))";

/// A grant for a whole server is later than all its pins, and a pin later than all grants before
/// it: in the order in which they were written, whatever the clock does.
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

struct Row {
    id: String,
    choice: String,
    bound: bound::Columns,
    arguments_digest: Option<String>,
    given_by: String,
    given_at: i64,
    expires_at: Option<i64>,
}

impl FromRow<'_, SqliteRow> for Row {
    fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: row.try_get("id")?,
            choice: row.try_get("choice")?,
            bound: bound::Columns::from_row(row)?,
            arguments_digest: row.try_get("arguments_digest")?,
            given_by: row.try_get("given_by")?,
            given_at: row.try_get("given_at")?,
            expires_at: row.try_get("expires_at")?,
        })
    }
}

impl Row {
    fn grant(self) -> Result<Grant, String> {
        let digest = self.arguments_digest.as_deref().map(bound::digest).transpose()?;
        Ok(Grant {
            id: self.id,
            choice: bound::choice(&self.choice)?,
            bound: self.bound.bound()?,
            arguments_digest: digest,
            by: self.given_by,
            given_at: time(self.given_at),
            expires_at: self.expires_at.map(time),
        })
    }
}

/// Keeps a grant, and says as what.
pub(crate) async fn keep(
    transaction: &mut Transaction<'_, Sqlite>,
    mut grant: Grant,
) -> Result<Grant, sqlx::Error> {
    let Bound { caller, client, tool, identity, definition } = &grant.bound;
    let (identity, definition) = (identity.to_string(), definition.to_string());
    let arguments = grant.arguments_digest.map(|digest| digest.to_string());
    let mut given_at = bound::millis(grant.given_at);
    sqlx::query(PRUNE).bind(given_at).execute(&mut **transaction).await?;
    let query = sqlx::query(REPLACED).bind(grant.choice.as_str()).bind(caller).bind(client);
    let query = query.bind(tool.server.as_str()).bind(&identity);
    let query = query.bind(tool.kind.as_str()).bind(&*tool.name).bind(&definition);
    query.bind(&arguments).execute(&mut **transaction).await?;
    if grant.choice == Choice::Server {
        let query = sqlx::query_scalar::<_, Option<i64>>(LAST_PIN).bind(tool.server.as_str());
        let last = query.bind(&identity).fetch_one(&mut **transaction).await?;
        given_at = given_at.max(last.unwrap_or_default());
    }
    let query = sqlx::query(KEEP).bind(&grant.id).bind(grant.choice.as_str());
    let query = query.bind(caller).bind(client);
    let query = query.bind(tool.server.as_str()).bind(tool.kind.as_str()).bind(&*tool.name);
    let query = query.bind(identity).bind(definition).bind(arguments).bind(&grant.by);
    let query = query.bind(given_at).bind(grant.expires_at.map(bound::millis));
    query.execute(&mut **transaction).await?;
    grant.given_at = time(given_at);
    Ok(grant)
}

pub(crate) async fn spend(
    state: &SqliteState,
    bound: &Bound,
    arguments: &Digest,
) -> Result<Option<String>, StoreError> {
    let Bound { caller, client, tool, identity, definition } = bound;
    let (now, begun) = bound::moment();
    let query = sqlx::query_scalar::<_, String>(SPEND).bind(arguments.to_string());
    let query = query.bind(caller).bind(client).bind(tool.server.as_str());
    let query = query.bind(tool.kind.as_str()).bind(&*tool.name);
    let query = query.bind(identity.to_string()).bind(definition.to_string());
    let spent = query.bind(now).bind(begun).fetch_optional(state.pool()).await;
    spent.map_err(|source| state.failed("use up an approval", source))
}

pub(crate) async fn all(state: &SqliteState) -> Result<Vec<Grant>, StoreError> {
    let action = "read grants";
    let (now, begun) = bound::moment();
    let query = sqlx::query_as::<_, Row>(LIST).bind(now).bind(begun);
    let rows = query.fetch_all(state.pool()).await;
    let rows = rows.map_err(|source| state.failed(action, source))?;
    let grants = rows.into_iter().map(Row::grant).collect::<Result<_, _>>();
    grants.map_err(|what| StoreError::Malformed { action, what })
}

pub(crate) async fn revoke(state: &SqliteState, which: &Which) -> Result<u64, StoreError> {
    let query = match which {
        Which::Id(id) => sqlx::query("delete from grants where id = $1").bind(id),
        Which::Server(server) => {
            sqlx::query("delete from grants where server = $1").bind(server.as_str())
        }
        // A grant for the whole server is not one for this tool: it never holds for a definition
        // that was pinned after it was given.
        Which::Tool(tool) => sqlx::query(
            "delete from grants where server = $1 and kind = $2 and name = $3 \
             and choice <> 'server'",
        )
        .bind(tool.server.as_str())
        .bind(tool.kind.as_str())
        .bind(&*tool.name),
    };
    let done = query.execute(state.pool()).await;
    let done = done.map_err(|source| state.failed("take grants back", source))?;
    Ok(done.rows_affected())
}
