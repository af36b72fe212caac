//! The sampling budgets of servers in the database. One statement counts a completion and checks
//! the limit, so that concurrent charges together stay within it.

use toolgate_model::ServerName;

use crate::{StateStore, StoreError};

const CHARGE: &str = "insert into charges (server, day, requests, tokens) \
     select $1, $2, 1, $3 where $4 >= 1 and $3 <= $5 \
     on conflict (server, day) do update \
     set requests = charges.requests + 1, tokens = charges.tokens + excluded.tokens \
     where charges.requests < $4 and charges.tokens + excluded.tokens <= $5";

/// Deletes earlier days, which are no longer needed.
const PRUNE: &str = "delete from charges where server = $1 and day < $2";

/// The cost of one completion, and the server's daily limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SamplingCharge {
    /// The server that requests the completion.
    pub server: ServerName,
    /// The day, as `YYYY-MM-DD` in UTC.
    pub day: String,
    /// The requested tokens.
    pub tokens: u64,
    /// The maximum number of completions per day.
    pub requests_limit: u32,
    /// The maximum number of tokens per day.
    pub tokens_limit: u64,
}

impl StateStore {
    /// Counts a completion for a server against its daily budget. Returns false, and counts
    /// nothing, if that would exceed a limit.
    pub async fn charge_sampling(&self, charge: &SamplingCharge) -> Result<bool, StoreError> {
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let for_day = |sql| sqlx::query(sql).bind(charge.server.as_str()).bind(&charge.day);
        let count = async {
            let mut transaction = self.begin().await?;
            for_day(PRUNE).execute(&mut *transaction).await?;
            let query = for_day(CHARGE).bind(whole(charge.tokens)).bind(charge.requests_limit);
            let query = query.bind(whole(charge.tokens_limit));
            let done = query.execute(&mut *transaction).await?;
            transaction.commit().await?;
            Ok(done.rows_affected() > 0)
        };
        self.run("count a completion", count).await
    }
}
