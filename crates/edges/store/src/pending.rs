//! Calls that wait for approval, in the database, and the only code that decides them.

use std::time::SystemTime;

use bytes::Bytes;
use sqlx::sqlite::SqliteRow;
use sqlx::{FromRow, Row as _, Sqlite, Transaction};

use crate::binding::{self, bound_columns};
use crate::sqlite::time_from_millis;
use crate::{
    ApprovalBinding, ApprovalChoice, ApprovalDecision, Grant, KeepPendingOutcome, PendingCall,
    PendingLimits, SettledCall, SqliteStore, StoreError, grants,
};

macro_rules! columns {
    () => {
        concat!(
            "id, ",
            bound_columns!(),
            ", arguments, arguments_digest, because, asked_at, expires_at, other_params"
        )
    };
}

const PRUNE: &str = "delete from pending where expires_at <= $1";

const SAME: &str = concat!(
    "update pending set expires_at = max(expires_at, $1) \
     where choice is null and expires_at > $2 and asked_at <= $3 \
     and arguments_digest = $4 and caller = $5 and client = $6 and server = $7 and kind = $8 \
     and name = $9 and identity = $10 and definition = $11 returning ",
    columns!()
);

const COUNT: &str = "select count(*), coalesce(sum(caller = $1), 0) from pending \
     where choice is null";

const KEEP: &str = concat!(
    "insert into pending (",
    columns!(),
    ") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)"
);

const LIST: &str = concat!(
    "select ",
    columns!(),
    " from pending where choice is null and expires_at > $1 and asked_at <= $2 \
      order by asked_at, id"
);

const SETTLE: &str = concat!(
    "update pending set choice = $1, decided_by = $2, decided_at = $3 \
     where id = $4 and choice is null and expires_at > $3 and asked_at <= $5 returning ",
    columns!()
);

const VERDICT: &str = "select choice, decided_by from pending where id = $1 \
     and choice is not null and decided_by is not null";

const WITHDRAW: &str = "delete from pending where id = $1 and choice is null";

/// A row of `pending`.
struct PendingCallRow {
    id: String,
    binding: binding::ApprovalBindingRow,
    arguments: String,
    arguments_digest: String,
    because: String,
    asked_at: i64,
    expires_at: i64,
    other_params: String,
}

impl FromRow<'_, SqliteRow> for PendingCallRow {
    fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: row.try_get("id")?,
            binding: binding::ApprovalBindingRow::from_row(row)?,
            arguments: row.try_get("arguments")?,
            arguments_digest: row.try_get("arguments_digest")?,
            because: row.try_get("because")?,
            asked_at: row.try_get("asked_at")?,
            expires_at: row.try_get("expires_at")?,
            other_params: row.try_get("other_params")?,
        })
    }
}

impl PendingCallRow {
    fn into_call(self) -> Result<PendingCall, String> {
        Ok(PendingCall {
            id: self.id,
            binding: self.binding.into_binding()?,
            arguments: Bytes::from(self.arguments),
            other_params: Bytes::from(self.other_params),
            arguments_digest: binding::parse_digest(&self.arguments_digest)?,
            because: self.because,
            asked_at: time_from_millis(self.asked_at),
            expires_at: time_from_millis(self.expires_at),
        })
    }
}

pub(crate) async fn keep(
    state: &SqliteStore,
    pending: &PendingCall,
    room: PendingLimits,
) -> Result<KeepPendingOutcome, StoreError> {
    let action = "store a call that waits for approval";
    let malformed = |what: String| StoreError::Malformed { action, what };
    let text = |raw| std::str::from_utf8(raw).map_err(|error| malformed(error.to_string()));
    let params = (text(&pending.arguments)?, text(&pending.other_params)?);
    let mut transaction = state.begin(action).await?;
    let kept = async {
        let (now, begun) = binding::validity_window();
        sqlx::query(PRUNE).bind(now).execute(&mut *transaction).await?;
        if let Some(same) = extend_same_call(&mut transaction, pending, now, begun).await? {
            return Ok(Err(same));
        }
        if let Some(full) = check_limits(&mut transaction, &pending.binding.caller, room).await? {
            return Ok(Ok(full));
        }
        insert(&mut transaction, pending, params).await?;
        Ok(Ok(KeepPendingOutcome::New))
    };
    let kept = kept.await.map_err(|source| state.query_error(action, source))?;
    state.commit(action, transaction).await?;
    match kept {
        Ok(kept) => Ok(kept),
        Err(same) => same
            .into_call()
            .map(|call| KeepPendingOutcome::Joined(Box::new(call)))
            .map_err(malformed),
    }
}

/// Returns the same call if it already waits, and extends its expiry to that of the new one.
async fn extend_same_call(
    transaction: &mut Transaction<'_, Sqlite>,
    pending: &PendingCall,
    now: i64,
    begun: i64,
) -> Result<Option<PendingCallRow>, sqlx::Error> {
    let PendingCall {
        binding: ApprovalBinding { caller, client, tool, identity, definition }, ..
    } = pending;
    let query =
        sqlx::query_as::<_, PendingCallRow>(SAME).bind(binding::to_millis(pending.expires_at));
    let query = query.bind(now).bind(begun).bind(pending.arguments_digest.to_string());
    let query = query.bind(caller).bind(client).bind(tool.server.as_str());
    let query = query.bind(tool.kind.as_str()).bind(&*tool.name);
    let query = query.bind(identity.to_string()).bind(definition.to_string());
    query.fetch_optional(&mut **transaction).await
}

async fn check_limits(
    transaction: &mut Transaction<'_, Sqlite>,
    caller: &str,
    room: PendingLimits,
) -> Result<Option<KeepPendingOutcome>, sqlx::Error> {
    let query = sqlx::query_as::<_, (i64, i64)>(COUNT).bind(caller);
    let (all, own) = query.fetch_one(&mut **transaction).await?;
    Ok(match () {
        () if own >= i64::from(room.per_caller) => Some(KeepPendingOutcome::CallerFull),
        () if all >= i64::from(room.in_all) => Some(KeepPendingOutcome::Full),
        () => None,
    })
}

async fn insert(
    transaction: &mut Transaction<'_, Sqlite>,
    pending: &PendingCall,
    (arguments, other_params): (&str, &str),
) -> Result<(), sqlx::Error> {
    let PendingCall {
        binding: ApprovalBinding { caller, client, tool, identity, definition }, ..
    } = pending;
    let query = sqlx::query(KEEP).bind(&pending.id).bind(caller).bind(client);
    let query = query.bind(tool.server.as_str()).bind(tool.kind.as_str()).bind(&*tool.name);
    let query = query.bind(identity.to_string()).bind(definition.to_string()).bind(arguments);
    let query = query.bind(pending.arguments_digest.to_string()).bind(&pending.because);
    let query = query
        .bind(binding::to_millis(pending.asked_at))
        .bind(binding::to_millis(pending.expires_at));
    let query = query.bind(other_params);
    query.execute(&mut **transaction).await.map(drop)
}

pub(crate) async fn all(state: &SqliteStore) -> Result<Vec<PendingCall>, StoreError> {
    let action = "read the calls that wait for approval";
    let (now, begun) = binding::validity_window();
    let query = sqlx::query_as::<_, PendingCallRow>(LIST).bind(now).bind(begun);
    let rows = query.fetch_all(state.pool()).await;
    let rows = rows.map_err(|source| state.query_error(action, source))?;
    let calls = rows.into_iter().map(PendingCallRow::into_call).collect::<Result<_, _>>();
    calls.map_err(|what| StoreError::Malformed { action, what })
}

/// Marks the row and stores the grant in one transaction. A second decision finds the mark, and no
/// reader ever sees a mark without its grant.
pub(crate) async fn decide(
    state: &SqliteStore,
    id: &str,
    choice: ApprovalChoice,
    by: &str,
) -> Result<Option<SettledCall>, StoreError> {
    let action = "decide a pending call";
    let malformed = |what: String| StoreError::Malformed { action, what };
    let mut transaction = state.begin(action).await?;
    let (now, begun) = binding::validity_window();
    let query =
        sqlx::query_as::<_, PendingCallRow>(SETTLE).bind(choice.as_str()).bind(by).bind(now);
    let row = query.bind(id).bind(begun).fetch_optional(&mut *transaction).await;
    let Some(row) = row.map_err(|source| state.query_error(action, source))? else {
        return Ok(None);
    };
    let call = row.into_call().map_err(malformed)?;
    let grant = build_grant(&call, choice, by, time_from_millis(now))?;
    let grant = match grant {
        Some(grant) => {
            let kept = grants::keep(&mut transaction, grant).await;
            Some(kept.map_err(|source| state.query_error(action, source))?)
        }
        None => None,
    };
    state.commit(action, transaction).await?;
    Ok(Some(SettledCall { call, choice, grant }))
}

/// Returns the grant that follows from a choice, if any.
fn build_grant(
    call: &PendingCall,
    choice: ApprovalChoice,
    by: &str,
    given_at: SystemTime,
) -> Result<Option<Grant>, StoreError> {
    if choice == ApprovalChoice::Deny {
        return Ok(None);
    }
    let once = choice == ApprovalChoice::Once;
    Ok(Some(Grant {
        id: binding::generate_id()?,
        choice,
        binding: call.binding.clone(),
        arguments_digest: once.then_some(call.arguments_digest),
        by: by.to_owned(),
        given_at,
        expires_at: once.then_some(call.expires_at),
    }))
}

pub(crate) async fn load_decision(
    state: &SqliteStore,
    id: &str,
) -> Result<Option<ApprovalDecision>, StoreError> {
    let action = "read the decision about a call";
    let query = sqlx::query_as::<_, (String, String)>(VERDICT).bind(id);
    let row = query.fetch_optional(state.pool()).await;
    let Some((choice, by)) = row.map_err(|source| state.query_error(action, source))? else {
        return Ok(None);
    };
    let choice =
        binding::parse_choice(&choice).map_err(|what| StoreError::Malformed { action, what })?;
    Ok(Some(ApprovalDecision { choice, by }))
}

pub(crate) async fn withdraw(state: &SqliteStore, id: &str) -> Result<bool, StoreError> {
    let done = sqlx::query(WITHDRAW).bind(id).execute(state.pool()).await;
    let done = done.map_err(|source| state.query_error("withdraw a pending call", source))?;
    Ok(done.rows_affected() > 0)
}
