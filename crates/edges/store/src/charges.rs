//! The sampling budgets of servers in the database. One statement counts a completion and checks
//! the limit, so that concurrent charges together stay within it.

use crate::{SamplingCharge, SqliteStore, StoreError};

const CHARGE: &str = "insert into charges (server, day, requests, tokens) \
     select $1, $2, 1, $3 where $4 >= 1 and $3 <= $5 \
     on conflict (server, day) do update \
     set requests = charges.requests + 1, tokens = charges.tokens + excluded.tokens \
     where charges.requests < $4 and charges.tokens + excluded.tokens <= $5";

/// Deletes earlier days, which are no longer needed.
const PRUNE: &str = "delete from charges where server = $1 and day < $2";

pub(crate) async fn charge(
    state: &SqliteStore,
    charge: &SamplingCharge,
) -> Result<bool, StoreError> {
    let action = "count a completion";
    let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let mut transaction = state.begin(action).await?;
    let charged = async {
        let prune = sqlx::query(PRUNE).bind(charge.server.as_str()).bind(&charge.day);
        prune.execute(&mut *transaction).await?;
        let query = sqlx::query(CHARGE).bind(charge.server.as_str()).bind(&charge.day);
        let query = query.bind(whole(charge.tokens)).bind(i64::from(charge.requests_limit));
        query.bind(whole(charge.tokens_limit)).execute(&mut *transaction).await
    };
    let done = charged.await.map_err(|source| state.query_error(action, source))?;
    state.commit(action, transaction).await?;
    Ok(done.rows_affected() > 0)
}
