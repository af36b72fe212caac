//! Eras in the database: the detected era of each declaration, and when it was detected.

use toolgate_model::Digest;
use toolgate_wire::Era;

use crate::sqlite::{now_millis, time_from_millis};
use crate::{DetectedEra, SqliteStore, StoreError};

/// The maximum number of declarations with an era. The oldest are deleted first, and are detected
/// again.
const KEPT: i64 = 1024;

const SAVE: &str = "insert into eras (spec, era, found_at) values ($1, $2, $3) \
     on conflict (spec) do update set era = excluded.era, found_at = excluded.found_at";

const PRUNE: &str = "delete from eras where spec not in \
     (select spec from eras order by found_at desc, spec limit $1)";

pub(crate) async fn save(state: &SqliteStore, spec: &Digest, era: Era) -> Result<(), StoreError> {
    let action = "store an era";
    let mut transaction = state.begin(action).await?;
    let written = async {
        let row = sqlx::query(SAVE).bind(spec.to_string()).bind(era_name(era)).bind(now_millis());
        row.execute(&mut *transaction).await?;
        sqlx::query(PRUNE).bind(KEPT).execute(&mut *transaction).await
    };
    written.await.map_err(|source| state.query_error(action, source))?;
    state.commit(action, transaction).await
}

pub(crate) async fn load(
    state: &SqliteStore,
    spec: &Digest,
) -> Result<Option<DetectedEra>, StoreError> {
    let action = "read an era";
    let query =
        sqlx::query_as::<_, (String, i64)>("select era, found_at from eras where spec = $1");
    let row = query.bind(spec.to_string()).fetch_optional(state.pool()).await;
    let Some((era, found_at)) = row.map_err(|source| state.query_error(action, source))? else {
        return Ok(None);
    };
    let known = [Era::Legacy, Era::Modern].into_iter().find(|known| era_name(*known) == era);
    let malformed = || StoreError::Malformed { action, what: format!("unknown era {era:?}") };
    Ok(Some(DetectedEra {
        era: known.ok_or_else(malformed)?,
        found_at: time_from_millis(found_at),
    }))
}

pub(crate) async fn forget(state: &SqliteStore, spec: &Digest) -> Result<(), StoreError> {
    let query = sqlx::query("delete from eras where spec = $1").bind(spec.to_string());
    let done = query.execute(state.pool()).await;
    done.map(drop).map_err(|source| state.query_error("delete an era", source))
}

fn era_name(era: Era) -> &'static str {
    match era {
        Era::Legacy => "legacy",
        Era::Modern => "modern",
    }
}
