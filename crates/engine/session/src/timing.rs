//! The time limits of a call: a limit without activity and a total limit.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use toolgate_model::ServerTimeouts;

use crate::SessionError;
use crate::pending_requests::PendingRequests;

/// Waits until call `id` exceeds one of its time limits, and returns the error.
pub(crate) async fn wait_overdue(
    flights: &PendingRequests,
    id: u64,
    timeouts: ServerTimeouts,
) -> SessionError {
    let started = Instant::now();
    let max = timeouts.max();
    let idle = timeouts.call.unwrap_or(max);
    let latest = started + max;
    let mut next = latest.min(started + idle);
    loop {
        sleep_until(next).await;
        if next >= latest {
            return SessionError::TimedOut(max);
        }
        let last_sign = flights.last_activity(id).unwrap_or(started);
        let silent_until = last_sign + idle;
        if silent_until <= next {
            return SessionError::TimedOut(idle);
        }
        next = latest.min(silent_until.max(next + Duration::from_millis(1)));
    }
}
