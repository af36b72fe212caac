//! Calls that wait for approval, in the database, and the only code that decides them.

use std::time::SystemTime;

use bytes::Bytes;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, Sqlite, Transaction};

use crate::columns::{self, as_text, bind_binding, validity_window};
use crate::sqlite::{time_from_millis, to_millis};
use crate::{
    ApprovalChoice, ApprovalDecision, Grant, KeepPendingOutcome, PendingCall, PendingLimits,
    SettledCall, StateStore, StoreError, generate_id, grants,
};

const PRUNE: &str = "delete from pending where expires_at <= $1";

/// Extends the expiry of the same call, if it already waits.
const EXTEND: &str = "update pending set expires_at = max(expires_at, $9) \
     where caller = $1 and client = $2 and server = $3 and kind = $4 and name = $5 \
     and identity = $6 and definition = $7 and arguments_digest = $8 \
     and choice is null and expires_at > $10 and asked_at <= $11 returning *";

const COUNT: &str = "select count(*), coalesce(sum(caller = $1), 0) from pending \
     where choice is null";

const KEEP: &str = "insert into pending (caller, client, server, kind, name, identity, definition, \
     arguments_digest, id, arguments, other_params, because, asked_at, expires_at) \
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";

const LIST: &str = "select * from pending \
     where choice is null and expires_at > $1 and asked_at <= $2 order by asked_at, id";

const DECIDE: &str = "update pending set choice = $1, decided_by = $2, decided_at = $3 \
     where id = $4 and choice is null and expires_at > $3 and asked_at <= $5 returning *";

const DECISION: &str = "select choice, decided_by from pending where id = $1 \
     and choice is not null and decided_by is not null";

const WITHDRAW: &str = "delete from pending where id = $1 and choice is null";

impl StateStore {
    /// Stores a call that needs approval, within the limits. If the same call already waits, this
    /// extends the expiry of that one instead.
    pub async fn keep_pending(
        &self,
        pending: &PendingCall,
        limits: PendingLimits,
    ) -> Result<KeepPendingOutcome, StoreError> {
        let keep = async {
            let mut transaction = self.begin().await?;
            let outcome = keep(&mut transaction, pending, limits).await?;
            transaction.commit().await?;
            Ok(outcome)
        };
        self.run("store a call that waits for approval", keep).await
    }

    /// Returns the undecided calls that have not expired, oldest first.
    pub async fn pending_calls(&self) -> Result<Vec<PendingCall>, StoreError> {
        let (now, begun) = validity_window();
        let query = sqlx::query(LIST).bind(now).bind(begun);
        self.list("read the calls that wait for approval", query, read).await
    }

    /// Decides a pending call exactly once. Returns `None` if the call does not exist, has expired
    /// or was already decided.
    ///
    /// Marks the call and stores the resulting grant in one transaction. A second decision finds
    /// the mark, and no reader ever sees a mark without its grant.
    pub async fn decide_pending(
        &self,
        id: &str,
        choice: ApprovalChoice,
        by: &str,
    ) -> Result<Option<SettledCall>, StoreError> {
        let grant_id = generate_id()?;
        let decide = async {
            let mut transaction = self.begin().await?;
            let (now, begun) = validity_window();
            let query = sqlx::query(DECIDE).bind(choice.as_str()).bind(by).bind(now);
            let row = query.bind(id).bind(begun).fetch_optional(&mut *transaction).await?;
            let Some(row) = row else { return Ok(None) };
            let call = read(&row)?;
            let grant = build_grant(grant_id, &call, choice, by, time_from_millis(now));
            let grant = match grant {
                Some(grant) => Some(grants::keep(&mut transaction, grant).await?),
                None => None,
            };
            transaction.commit().await?;
            Ok(Some(SettledCall { call, choice, grant }))
        };
        self.run("decide a pending call", decide).await
    }

    /// Returns the decision about a call, as long as it is stored.
    pub async fn approval_decision(
        &self,
        id: &str,
    ) -> Result<Option<ApprovalDecision>, StoreError> {
        let read = |row: &SqliteRow| {
            Ok(ApprovalDecision { choice: columns::choice(row)?, by: row.try_get("decided_by")? })
        };
        self.find("read the decision about a call", sqlx::query(DECISION).bind(id), read).await
    }

    /// Withdraws a call that no longer needs approval. Returns true if it was pending.
    pub async fn withdraw_pending(&self, id: &str) -> Result<bool, StoreError> {
        let query = sqlx::query(WITHDRAW).bind(id);
        Ok(self.execute("withdraw a pending call", query).await? > 0)
    }
}

async fn keep(
    transaction: &mut Transaction<'_, Sqlite>,
    pending: &PendingCall,
    limits: PendingLimits,
) -> Result<KeepPendingOutcome, sqlx::Error> {
    let (now, begun) = validity_window();
    sqlx::query(PRUNE).bind(now).execute(&mut **transaction).await?;
    let about = |sql| {
        let query = bind_binding(sqlx::query(sql), &pending.binding);
        query.bind(pending.arguments_digest.to_string())
    };
    let query = about(EXTEND).bind(to_millis(pending.expires_at)).bind(now).bind(begun);
    if let Some(same) = query.fetch_optional(&mut **transaction).await? {
        return Ok(KeepPendingOutcome::Joined(Box::new(read(&same)?)));
    }
    let query = sqlx::query_as::<_, (i64, i64)>(COUNT).bind(&pending.binding.caller);
    let (all, own) = query.fetch_one(&mut **transaction).await?;
    if own >= i64::from(limits.per_caller) {
        return Ok(KeepPendingOutcome::CallerFull);
    }
    if all >= i64::from(limits.in_all) {
        return Ok(KeepPendingOutcome::Full);
    }
    let query = about(KEEP).bind(&pending.id).bind(as_text(&pending.arguments)?);
    let query = query.bind(as_text(&pending.other_params)?).bind(&pending.because);
    let query = query.bind(to_millis(pending.asked_at)).bind(to_millis(pending.expires_at));
    query.execute(&mut **transaction).await?;
    Ok(KeepPendingOutcome::New)
}

/// Returns the grant that follows from a choice, if any.
fn build_grant(
    id: String,
    call: &PendingCall,
    choice: ApprovalChoice,
    by: &str,
    given_at: SystemTime,
) -> Option<Grant> {
    let once = choice == ApprovalChoice::Once;
    (choice != ApprovalChoice::Deny).then(|| Grant {
        id,
        choice,
        binding: call.binding.clone(),
        arguments_digest: once.then_some(call.arguments_digest),
        by: by.to_owned(),
        given_at,
        expires_at: once.then_some(call.expires_at),
    })
}

fn read(row: &SqliteRow) -> Result<PendingCall, sqlx::Error> {
    Ok(PendingCall {
        id: row.try_get("id")?,
        binding: columns::binding(row)?,
        arguments: Bytes::from(row.try_get::<String, _>("arguments")?),
        other_params: Bytes::from(row.try_get::<String, _>("other_params")?),
        arguments_digest: columns::digest(row, "arguments_digest")?,
        because: row.try_get("because")?,
        asked_at: columns::time(row, "asked_at")?,
        expires_at: columns::time(row, "expires_at")?,
    })
}
