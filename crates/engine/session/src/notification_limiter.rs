//! Limits the rate of a server's notifications with a token bucket.
//!
//! Excess notifications are dropped and counted. Answers and questions are not limited here,
//! because they are bounded by the calls they belong to.

use std::sync::Mutex;

use tokio::time::Instant;

/// The sustained rate, in notifications per second.
const RATE: f64 = 100.0;
/// The size of a burst, in notifications.
const BURST: f64 = 1000.0;

/// Limits the notifications of one server.
#[derive(Debug)]
pub(crate) struct NotificationLimiter {
    bucket: Mutex<LimiterState>,
}

/// The token bucket and the number of dropped notifications.
#[derive(Debug)]
struct LimiterState {
    level: f64,
    filled: Instant,
    dropped: u64,
}

impl NotificationLimiter {
    pub(crate) fn new() -> Self {
        let bucket = LimiterState { level: BURST, filled: Instant::now(), dropped: 0 };
        Self { bucket: Mutex::new(bucket) }
    }

    /// Returns true if another notification may pass now.
    pub(crate) fn admit(&self) -> bool {
        let Ok(mut bucket) = self.bucket.lock() else { return false };
        let now = Instant::now();
        let gained = now.duration_since(bucket.filled).as_secs_f64() * RATE;
        bucket.level = (bucket.level + gained).min(BURST);
        bucket.filled = now;
        if bucket.level < 1.0 {
            bucket.dropped += 1;
            if bucket.dropped.is_power_of_two() {
                tracing::warn!(
                    target: "toolgate::session", dropped = bucket.dropped,
                    "the server exceeds the notification limit; notifications are dropped"
                );
            }
            return false;
        }
        bucket.level -= 1.0;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn a_flood_is_cut_and_a_steady_flow_passes() {
        let meter = NotificationLimiter::new();
        let passed = (0..10_000).filter(|_| meter.admit()).count();
        assert_eq!(passed, 1000);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!((0..1000).filter(|_| meter.admit()).count(), 100);
    }
}
