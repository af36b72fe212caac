//! How many notifications a server may send: a bucket that fills at a steady rate.
//!
//! What overflows is dropped and counted. Progress and logs are the only things it applies to:
//! answers and questions are bounded by the calls they belong to.

use std::sync::Mutex;

use tokio::time::Instant;

/// Notifications a second that pass in the long run.
const RATE: f64 = 100.0;
/// How many may come at once.
const BURST: f64 = 1000.0;

#[derive(Debug)]
pub(crate) struct Meter {
    bucket: Mutex<Bucket>,
}

#[derive(Debug)]
struct Bucket {
    level: f64,
    filled: Instant,
    dropped: u64,
}

impl Meter {
    pub(crate) fn new() -> Self {
        let bucket = Bucket { level: BURST, filled: Instant::now(), dropped: 0 };
        Self { bucket: Mutex::new(bucket) }
    }

    /// Whether one more may pass now.
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
                    "a server sends more notifications than it may"
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
        let meter = Meter::new();
        let passed = (0..10_000).filter(|_| meter.admit()).count();
        assert_eq!(passed, 1000);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!((0..1000).filter(|_| meter.admit()).count(), 100);
    }
}
