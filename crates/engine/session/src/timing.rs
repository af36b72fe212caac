//! How long a call may take: a while without a sign of life, and a while in all.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use toolgate_model::Timeouts;

use crate::SessionError;
use crate::flights::Flights;

/// Waits until call `id` has been silent, or under way, for too long.
pub(crate) async fn overdue(flights: &Flights, id: u64, timeouts: Timeouts) -> SessionError {
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
        let last_sign = flights.last_sign(id).unwrap_or(started);
        let silent_until = last_sign + idle;
        if silent_until <= next {
            return SessionError::TimedOut(idle);
        }
        next = latest.min(silent_until.max(next + Duration::from_millis(1)));
    }
}
