//! Limits the rate of a server's notifications with a token bucket.
//!
//! Excess notifications are dropped and counted. Answers and questions are not limited here,
//! because they are bounded by the calls they belong to.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use toolgate_model::TokenBucket;

/// The time between two notifications at the sustained rate.
const PERIOD: Duration = Duration::from_millis(10);
/// The size of a burst, in notifications.
const BURST: u32 = 1000;

/// Limits the notifications of one server, and counts the dropped ones.
#[derive(Debug)]
pub(crate) struct NotificationLimiter(Mutex<(TokenBucket, u64)>);

impl NotificationLimiter {
    pub(crate) fn new() -> Self {
        let now = Instant::now().into_std();
        Self(Mutex::new((TokenBucket::full(BURST, PERIOD, now), 0)))
    }

    /// Returns true if another notification may pass now.
    pub(crate) fn admit(&self) -> bool {
        let (bucket, dropped) = &mut *self.0.lock();
        let admitted = bucket.take(Instant::now().into_std());
        *dropped += u64::from(!admitted);
        if !admitted && dropped.is_power_of_two() {
            tracing::warn!(
                target: "toolgate::session", dropped,
                "the server exceeds the notification limit; notifications are dropped"
            );
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_flood_is_cut_and_a_steady_flow_passes() {
        let meter = NotificationLimiter::new();
        let passed = (0..10_000).filter(|_| meter.admit()).count();
        assert_eq!(passed, 1000);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!((0..1000).filter(|_| meter.admit()).count(), 100);
    }
}
