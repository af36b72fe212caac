//! Servers that were replaced or dismissed, until their last calls are over.
//!
//! They are in no book any more: new calls go elsewhere at once. Only what was under way may finish
//! where it began, up to the drain limit; then the process is ended in good manners.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::Pool;

/// How long calls under way on a server that is replaced or dismissed may go on. A server whose
/// calls may not take as long (`timeouts.max`) is not waited for as long either.
pub const DRAIN: Duration = Duration::from_secs(30);

/// Those that are on their way out.
pub(crate) struct Leaving {
    limit: Duration,
    /// Whether nobody may take his time any more.
    hurry: watch::Sender<bool>,
    tasks: Mutex<JoinSet<()>>,
}

impl Leaving {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, hurry: watch::Sender::new(false), tasks: Mutex::default() }
    }

    /// Ends a pool that is in no book any more, after its calls. Does not wait for that.
    pub(crate) fn see_off(&self, pool: Arc<Pool>) {
        let limit = self.limit.min(pool.timeouts().max());
        let hurry = self.hurry.subscribe();
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        // What is over is forgotten now and then, so that a long life gathers nothing.
        while tasks.try_join_next().is_some() {}
        tasks.spawn(end_after_calls(pool, limit, hurry));
    }

    /// Ends them all now.
    pub(crate) async fn end(&self) {
        self.hurry.send_replace(true);
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        tasks.join_all().await;
    }
}

async fn end_after_calls(pool: Arc<Pool>, limit: Duration, mut hurry: watch::Receiver<bool>) {
    tokio::select! {
        () = pool.gauge.idle() => {}
        () = tokio::time::sleep(limit) => {
            tracing::warn!(
                target: "toolgate::fleet", server = %pool.server(),
                "calls on the replaced server are cut off: they were not over within {limit:?}"
            );
        }
        _ = hurry.wait_for(|hurry| *hurry) => {}
    }
    pool.close().await;
}
