//! What servers spent of their callers' models, in the database: counted and bounded in one step,
//! so that several who charge at the same time stay within the limit together.

use crate::{Charge, SqliteState, StoreError};

const CHARGE: &str = "insert into charges (server, day, requests, tokens) \
     select $1, $2, 1, $3 where $4 >= 1 and $3 <= $5 \
     on conflict (server, day) do update \
     set requests = charges.requests + 1, tokens = charges.tokens + excluded.tokens \
     where charges.requests < $4 and charges.tokens + excluded.tokens <= $5";

/// Days before the one that is charged, which nobody asks about any more.
const PRUNE: &str = "delete from charges where server = $1 and day < $2";

pub(crate) async fn charge(state: &SqliteState, charge: &Charge) -> Result<bool, StoreError> {
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
    let done = charged.await.map_err(|source| state.failed(action, source))?;
    state.commit(action, transaction).await?;
    Ok(done.rows_affected() > 0)
}
