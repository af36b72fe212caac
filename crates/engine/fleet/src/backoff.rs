//! Spaces out connection attempts after consecutive failures.
//!
//! A server that failed to start has no tools, so no caller would trigger another attempt. The pool
//! therefore retries a few times by itself. After that it retries only when a caller uses the
//! server.

use std::time::Duration;

use tokio::time::Instant;

/// The wait after the first failure. It doubles with each further failure.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// After this many consecutive failures the pool retries only on demand.
const MAX_AUTO_RETRIES: u32 = 5;

/// Counts consecutive failures and holds the earliest time of the next attempt.
#[derive(Debug, Default)]
pub(crate) struct RetryBackoff {
    count: u32,
    wait_until: Option<Instant>,
}

impl RetryBackoff {
    /// Records a failure. Returns the time of the next automatic attempt, or `None` if there is
    /// none.
    pub(crate) fn record_failure(&mut self) -> Option<Instant> {
        let wait = FIRST_WAIT.saturating_mul(1 << self.count.min(6)).min(LONGEST_WAIT);
        let next = Instant::now() + wait;
        self.count += 1;
        self.wait_until = Some(next);
        (self.count < MAX_AUTO_RETRIES).then_some(next)
    }

    /// Returns true if the last attempt failed.
    pub(crate) fn has_failures(&self) -> bool {
        self.count > 0
    }

    /// Returns true if it is too early for another attempt.
    pub(crate) fn must_wait(&self) -> bool {
        self.wait_until.is_some_and(|until| until > Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn attempts_are_spaced_out_and_then_made_on_demand_only() {
        let mut failures = RetryBackoff::default();
        for wait in [500, 1000, 2000, 4000] {
            let next = failures.record_failure().unwrap();
            assert_eq!(next - Instant::now(), Duration::from_millis(wait));
            assert!(failures.must_wait());
            tokio::time::sleep_until(next).await;
            assert!(!failures.must_wait());
        }
        for _ in 0..5 {
            assert_eq!(failures.record_failure(), None);
        }
        tokio::time::advance(LONGEST_WAIT).await;
        assert!(failures.has_failures() && !failures.must_wait());
    }
}
