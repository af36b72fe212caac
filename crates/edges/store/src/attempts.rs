//! Attempts in the database: how often a server with an unknown catalog was started.

use toolgate_model::Digest;

use crate::sqlite::now_millis;
use crate::{SqliteStore, StoreError};

/// The maximum number of declarations with a count. The oldest are deleted first, and start again
/// at zero.
const KEPT: i64 = 1024;

const NOTE: &str = "insert into attempts (spec, tries, tried_at) values ($1, 1, $2) \
     on conflict (spec) do update set tries = attempts.tries + 1, tried_at = excluded.tried_at \
     returning tries";

const PRUNE: &str = "delete from attempts where spec not in \
     (select spec from attempts order by tried_at desc, spec limit $1)";

pub(crate) async fn count(state: &SqliteStore, spec: &Digest) -> Result<u32, StoreError> {
    let action = "count an attempt";
    let mut transaction = state.begin(action).await?;
    let counted = async {
        let row = sqlx::query_scalar::<_, i64>(NOTE).bind(spec.to_string()).bind(now_millis());
        let tries = row.fetch_one(&mut *transaction).await?;
        sqlx::query(PRUNE).bind(KEPT).execute(&mut *transaction).await?;
        Ok(tries)
    };
    let tries = counted.await.map_err(|source| state.query_error(action, source))?;
    state.commit(action, transaction).await?;
    Ok(u32::try_from(tries - 1).unwrap_or(u32::MAX))
}
