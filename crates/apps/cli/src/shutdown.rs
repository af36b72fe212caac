//! A shutdown signal that any number of tasks can wait for.

use std::sync::Arc;

use tokio::sync::watch;
use toolgate_host::ShutdownSignals;

use crate::exit::{ErrorCode, Exit, OrFail as _, Result};
use crate::out;

/// The shutdown of this process or of a part of it. Cheap to clone; all clones share one state.
#[derive(Debug, Clone, Default)]
pub struct ShutdownSignal(Arc<watch::Sender<bool>>);

/// Starts listening for the signals that end this process.
pub fn signals() -> Result<ShutdownSignals> {
    ShutdownSignals::new().or_fail(ErrorCode::CliInternal, "cannot listen for signals")
}

/// Returns a signal that the process's termination signals trigger. After the first one calls in
/// flight may finish; the second one exits at once.
pub fn on_signal() -> Result<ShutdownSignal> {
    let mut signals = signals()?;
    let shutdown = ShutdownSignal::default();
    let end = shutdown.clone();
    tokio::spawn(async move {
        signals.next().await;
        out::note("ending: calls in flight may finish; a second signal ends at once");
        end.trigger();
        signals.next().await;
        std::process::exit(Exit::Interrupted as i32);
    });
    Ok(shutdown)
}

impl ShutdownSignal {
    /// Starts the shutdown.
    pub fn trigger(&self) {
        self.0.send_replace(true);
    }

    /// Waits until the shutdown starts.
    pub async fn wait(&self) {
        // Cannot fail: the sender lives in `self`.
        let _ = self.0.subscribe().wait_for(|triggered| *triggered).await;
    }

    /// Runs `work` until it completes or the shutdown starts.
    pub async fn run_until_shutdown(&self, work: impl Future<Output = ()>) {
        tokio::select! {
            () = self.wait() => {}
            () = work => {}
        }
    }
}
