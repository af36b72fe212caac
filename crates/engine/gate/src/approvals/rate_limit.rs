//! Limits how often a caller may cause a question.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use toolgate_model::TokenBucket;

/// The most new questions of one caller within [`SPAN`].
pub(super) const ASKS: u32 = 60;
/// The time they are counted in.
const SPAN: Duration = Duration::from_secs(60);
/// The most callers that are tracked. Callers with a full bucket are dropped first.
const CALLERS: usize = 1024;

/// A token bucket per caller. It refills evenly and is full after [`SPAN`].
#[derive(Default)]
pub(super) struct ApprovalRateLimit(Mutex<HashMap<String, TokenBucket>>);

impl ApprovalRateLimit {
    /// Counts one question; returns `false` if it exceeds the limit.
    pub(super) fn admit(&self, caller: &str) -> bool {
        let now = Instant::now().into_std();
        let mut buckets = self.0.lock();
        if !buckets.contains_key(caller) && buckets.len() >= CALLERS {
            buckets.retain(|_, bucket| bucket.available(now) < ASKS);
            if buckets.len() >= CALLERS {
                return false;
            }
        }
        let full = || TokenBucket::full(ASKS, SPAN / ASKS, now);
        buckets.entry(caller.to_owned()).or_insert_with(full).take(now)
    }

    /// Returns the token of a question that was not asked.
    pub(super) fn give_back(&self, caller: &str) {
        if let Some(bucket) = self.0.lock().get_mut(caller) {
            bucket.put_back();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_caller_runs_out_and_recovers_and_nobody_else_is_touched() {
        let rate = ApprovalRateLimit::default();
        let admitted = |caller: &str, tries: u32| (0..tries).filter(|_| rate.admit(caller)).count();
        assert_eq!(admitted("one", 200), ASKS as usize);
        assert_eq!(admitted("other", 1), 1);
        tokio::time::advance(SPAN / 2).await;
        assert_eq!(admitted("one", 200), ASKS as usize / 2);
        tokio::time::advance(SPAN * 10).await;
        assert_eq!(
            admitted("one", 200),
            ASKS as usize,
            "no more than a minute's worth is saved up"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn more_callers_than_can_be_counted_are_not_let_in_uncounted() {
        let rate = ApprovalRateLimit::default();
        for index in 0..CALLERS {
            assert!(rate.admit(&index.to_string()));
        }
        assert!(!rate.admit("one more"));
        tokio::time::advance(SPAN).await;
        assert!(rate.admit("one more"));
    }
}
