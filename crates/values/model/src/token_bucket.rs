//! A token bucket: a burst of events, then one per period.

use std::time::{Duration, Instant};

/// A rate limiter. Callers pass in the current time.
#[derive(Debug, Clone)]
pub struct TokenBucket {
    left: u32,
    capacity: u32,
    period: Duration,
    filled: Instant,
}

impl TokenBucket {
    /// Creates a full bucket that gains one token each `period`.
    pub fn full(capacity: u32, period: Duration, now: Instant) -> Self {
        Self { left: capacity, capacity, period, filled: now }
    }

    /// Returns the number of tokens available now.
    pub fn available(&mut self, now: Instant) -> u32 {
        let elapsed = now.saturating_duration_since(self.filled).as_nanos();
        let gained = elapsed / self.period.as_nanos().max(1);
        let gained = u32::try_from(gained).unwrap_or(u32::MAX).min(self.capacity - self.left);
        self.left += gained;
        self.filled = match self.left == self.capacity {
            true => self.filled.max(now),
            false => self.filled + self.period * gained,
        };
        self.left
    }

    /// Takes a token if there is one. Returns true if it did.
    pub fn take(&mut self, now: Instant) -> bool {
        let taken = self.available(now) > 0;
        self.left -= u32::from(taken);
        taken
    }

    /// Returns a token that was taken and not used.
    pub fn put_back(&mut self) {
        self.left = (self.left + 1).min(self.capacity);
    }

    /// Takes an available token or the next one, and returns the time when it may be used.
    pub fn reserve(&mut self, now: Instant) -> Instant {
        if self.take(now) {
            return now;
        }
        self.filled += self.period;
        self.filled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_burst_passes_and_then_one_per_period() {
        let start = Instant::now();
        let mut bucket = TokenBucket::full(3, SECOND, start);
        assert_eq!((0..10).filter(|_| bucket.take(start)).count(), 3);
        assert!(!bucket.take(start + SECOND * 9 / 10));
        assert!(bucket.take(start + SECOND) && !bucket.take(start + SECOND));
        // The rest of a period counts towards the next token.
        assert!(!bucket.take(start + SECOND * 19 / 10) && bucket.take(start + SECOND * 2));
        assert_eq!(bucket.available(start + SECOND * 1000), 3);
    }

    #[test]
    fn a_reserved_token_is_due_one_period_after_the_one_before() {
        let start = Instant::now();
        let mut bucket = TokenBucket::full(1, SECOND, start);
        let due: Vec<_> = (0..4).map(|_| bucket.reserve(start) - start).collect();
        assert_eq!(due, [Duration::ZERO, SECOND, SECOND * 2, SECOND * 3]);
        assert!(!bucket.take(start + SECOND * 3), "the last reservation took it");
        assert!(bucket.take(start + SECOND * 4));
    }
}
