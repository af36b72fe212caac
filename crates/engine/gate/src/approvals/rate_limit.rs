//! Limits how often a caller may cause a question.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The most new questions of one caller within [`SPAN`].
pub(super) const ASKS: u32 = 60;
/// The time they are counted in.
const SPAN: Duration = Duration::from_secs(60);
/// The most callers that are tracked. Callers that asked nothing within [`SPAN`] are dropped first.
const CALLERS: usize = 1024;

/// A token bucket per caller. It refills evenly and is full after [`SPAN`].
#[derive(Default)]
pub(super) struct ApprovalRateLimit(Mutex<HashMap<String, CallerBucket>>);

/// The questions one caller may still cause.
struct CallerBucket {
    left: f64,
    at: Instant,
}

impl CallerBucket {
    fn fill(&mut self, now: Instant) {
        let share = now.duration_since(self.at).as_secs_f64() / SPAN.as_secs_f64();
        self.left = (self.left + share * f64::from(ASKS)).min(f64::from(ASKS));
        self.at = now;
    }
}

impl ApprovalRateLimit {
    /// Counts one question; returns `false` if it exceeds the limit.
    pub(super) fn admit(&self, caller: &str) -> bool {
        let now = Instant::now();
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !buckets.contains_key(caller) && buckets.len() >= CALLERS {
            buckets.retain(|_, bucket| now.duration_since(bucket.at) < SPAN);
            if buckets.len() >= CALLERS {
                return false;
            }
        }
        let full = || CallerBucket { left: f64::from(ASKS), at: now };
        let bucket = buckets.entry(caller.to_owned()).or_insert_with(full);
        bucket.fill(now);
        let admitted = bucket.left >= 1.0;
        if admitted {
            bucket.left -= 1.0;
        }
        admitted
    }

    /// Returns the token of a question that was not asked.
    pub(super) fn give_back(&self, caller: &str) {
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = buckets.get_mut(caller) {
            bucket.left = (bucket.left + 1.0).min(f64::from(ASKS));
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
