//! Eras in the database: the verdict on each declaration, and when it was found.

use toolgate_model::Digest;
use toolgate_wire::Era;

use crate::sqlite::{now, time};
use crate::{FoundEra, SqliteState, StoreError};

/// Declarations whose verdicts are kept; the oldest go first, and are only found out anew.
const KEPT: i64 = 1024;

const SAVE: &str = "insert into eras (spec, era, found_at) values ($1, $2, $3) \
     on conflict (spec) do update set era = excluded.era, found_at = excluded.found_at";

const PRUNE: &str = "delete from eras where spec not in \
     (select spec from eras order by found_at desc, spec limit $1)";

pub(crate) async fn save(state: &SqliteState, spec: &Digest, era: Era) -> Result<(), StoreError> {
    let action = "keep an era";
    let mut transaction = state.begin(action).await?;
    let written = async {
        let row = sqlx::query(SAVE).bind(spec.to_string()).bind(spelled(era)).bind(now());
        row.execute(&mut *transaction).await?;
        sqlx::query(PRUNE).bind(KEPT).execute(&mut *transaction).await
    };
    written.await.map_err(|source| state.failed(action, source))?;
    state.commit(action, transaction).await
}

pub(crate) async fn load(
    state: &SqliteState,
    spec: &Digest,
) -> Result<Option<FoundEra>, StoreError> {
    let action = "read an era";
    let query =
        sqlx::query_as::<_, (String, i64)>("select era, found_at from eras where spec = $1");
    let row = query.bind(spec.to_string()).fetch_optional(state.pool()).await;
    let Some((era, found_at)) = row.map_err(|source| state.failed(action, source))? else {
        return Ok(None);
    };
    let known = [Era::Legacy, Era::Modern].into_iter().find(|known| spelled(*known) == era);
    let malformed = || StoreError::Malformed { action, what: format!("unknown era {era:?}") };
    Ok(Some(FoundEra { era: known.ok_or_else(malformed)?, found_at: time(found_at) }))
}

pub(crate) async fn forget(state: &SqliteState, spec: &Digest) -> Result<(), StoreError> {
    let query = sqlx::query("delete from eras where spec = $1").bind(spec.to_string());
    let done = query.execute(state.pool()).await;
    done.map(drop).map_err(|source| state.failed("forget an era", source))
}

fn spelled(era: Era) -> &'static str {
    match era {
        Era::Legacy => "legacy",
        Era::Modern => "modern",
    }
}
