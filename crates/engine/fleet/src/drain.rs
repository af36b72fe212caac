//! Shuts down replaced and removed servers after their last calls.
//!
//! A draining pool is no longer part of the fleet, so new calls go elsewhere. Calls in progress may
//! finish on it, up to the drain limit. Then the process is shut down gracefully.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::Pool;

/// How long calls in progress on a replaced or removed server may continue. If the server's
/// `timeouts.max` is shorter, that limit applies.
pub const DRAIN_LIMIT: Duration = Duration::from_secs(30);

/// The pools that are draining.
pub(crate) struct DrainingPools {
    limit: Duration,
    /// True once all pools must close without waiting for their calls.
    stop_waiting: watch::Sender<bool>,
    tasks: Mutex<JoinSet<()>>,
}

impl DrainingPools {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, stop_waiting: watch::Sender::new(false), tasks: Mutex::default() }
    }

    /// Closes a pool in the background once its calls are done.
    pub(crate) fn drain(&self, pool: Arc<Pool>) {
        let limit = self.limit.min(pool.timeouts().max());
        let hurry = self.stop_waiting.subscribe();
        let mut tasks = self.tasks.lock();
        // Drop finished tasks, so that a long-running process does not accumulate them.
        while tasks.try_join_next().is_some() {}
        tasks.spawn(end_after_calls(pool, limit, hurry));
    }

    /// Closes all draining pools now.
    pub(crate) async fn close_all(&self) {
        self.stop_waiting.send_replace(true);
        let tasks = std::mem::take(&mut *self.tasks.lock());
        tasks.join_all().await;
    }
}

async fn end_after_calls(pool: Arc<Pool>, limit: Duration, mut hurry: watch::Receiver<bool>) {
    tokio::select! {
        () = pool.active_calls.wait_idle() => {}
        () = tokio::time::sleep(limit) => {
            tracing::warn!(
                target: "toolgate::fleet", server = %pool.server(),
                "calls on the replaced server are aborted: they did not finish within {limit:?}"
            );
        }
        _ = hurry.wait_for(|hurry| *hurry) => {}
    }
    pool.close().await;
}
