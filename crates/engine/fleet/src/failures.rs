//! Failures in a row: how long the next attempt waits, and whether it is made unasked.
//!
//! A server that failed at its start has nothing to be called by, so nobody would ever ask for it
//! again: it is tried again by itself, a few times. One that goes on failing is then left alone
//! until somebody asks.

use std::time::Duration;

use tokio::time::Instant;

/// The wait after the first failure; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// After so many failures in a row the server is tried on demand only.
const UNASKED: u32 = 5;

/// Failures in a row, and when the next attempt may be made.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    count: u32,
    wait_until: Option<Instant>,
}

impl Failures {
    /// Notes one more. Gives when the next attempt is to be made unasked, if it is.
    pub(crate) fn add(&mut self) -> Option<Instant> {
        let wait = FIRST_WAIT.saturating_mul(1 << self.count.min(6)).min(LONGEST_WAIT);
        let next = Instant::now() + wait;
        self.count += 1;
        self.wait_until = Some(next);
        (self.count < UNASKED).then_some(next)
    }

    /// Whether the last attempt failed.
    pub(crate) fn any(&self) -> bool {
        self.count > 0
    }

    /// Whether it is too early for another attempt.
    pub(crate) fn must_wait(&self) -> bool {
        self.wait_until.is_some_and(|until| until > Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn attempts_are_spaced_out_and_then_made_on_demand_only() {
        let mut failures = Failures::default();
        for wait in [500, 1000, 2000, 4000] {
            let next = failures.add().unwrap();
            assert_eq!(next - Instant::now(), Duration::from_millis(wait));
            assert!(failures.must_wait());
            tokio::time::sleep_until(next).await;
            assert!(!failures.must_wait());
        }
        for _ in 0..5 {
            assert_eq!(failures.add(), None);
        }
        tokio::time::advance(LONGEST_WAIT).await;
        assert!(failures.any() && !failures.must_wait());
    }
}
