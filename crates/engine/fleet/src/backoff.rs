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
    /// The failure that was logged last, and how often it repeated since.
    logged: Option<(String, u32)>,
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

    /// Returns the lines to log about a failure. A failure that repeats is logged once and counted;
    /// the count is logged when something else happens, or when no further attempt follows.
    pub(crate) fn failure_lines(&mut self, reason: &str, is_last: bool) -> Vec<String> {
        match &mut self.logged {
            Some((logged, repeats)) if logged == reason => *repeats += 1,
            _ => {
                let before = self.take_repeats();
                self.logged = Some((reason.to_owned(), 0));
                return before.into_iter().chain([reason.to_owned()]).collect();
            }
        }
        if is_last { self.take_repeats().into_iter().collect() } else { Vec::new() }
    }

    /// Returns the line that says how often the logged failure repeated, if it did.
    pub(crate) fn take_repeats(&mut self) -> Option<String> {
        let (reason, repeats) = self.logged.as_mut()?;
        match std::mem::take(repeats) {
            0 => None,
            1 => Some(format!("{reason} (again)")),
            repeats => Some(format!("{reason} ({repeats} more times)")),
        }
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

    #[test]
    fn a_repeated_failure_is_logged_once_with_a_count() {
        let mut failures = RetryBackoff::default();
        assert_eq!(failures.failure_lines("refused", false), ["refused"]);
        for _ in 0..3 {
            assert!(failures.failure_lines("refused", false).is_empty());
        }
        assert_eq!(failures.failure_lines("timeout", false), ["refused (3 more times)", "timeout"]);
        assert_eq!(failures.failure_lines("timeout", true), ["timeout (again)"]);
        assert_eq!(failures.take_repeats(), None);
    }

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
