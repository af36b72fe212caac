//! A shutdown signal that any number of tasks can wait for.

use std::sync::Arc;

use tokio::sync::watch;
use toolgate_host::ShutdownSignals;

use crate::exit::{ErrorCode, Exit, OrFail as _, Result};
use crate::out;

/// Triggers the shutdown; dropping the last clone triggers it too.
#[derive(Debug, Clone)]
pub struct ShutdownTrigger(Arc<watch::Sender<bool>>);

/// Waits for the shutdown. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ShutdownSignal(watch::Receiver<bool>);

/// Returns a connected trigger and signal.
pub fn channel() -> (ShutdownTrigger, ShutdownSignal) {
    let (sender, receiver) = watch::channel(false);
    (ShutdownTrigger(Arc::new(sender)), ShutdownSignal(receiver))
}

/// Starts listening for the signals that end this process.
pub fn signals() -> Result<ShutdownSignals> {
    ShutdownSignals::new().or_fail(ErrorCode::CliInternal, "cannot listen for signals")
}

/// Returns a trigger and a signal that the process's termination signals trigger as well. After the
/// first one calls in flight may finish; the second one exits at once.
pub fn on_signal() -> Result<(ShutdownTrigger, ShutdownSignal)> {
    let mut signals = signals()?;
    let (stop, ending) = channel();
    let end = stop.clone();
    tokio::spawn(async move {
        signals.next().await;
        out::note("ending: calls in flight may finish; a second signal ends at once");
        end.trigger();
        signals.next().await;
        std::process::exit(Exit::Interrupted as i32);
    });
    Ok((stop, ending))
}

impl ShutdownTrigger {
    /// Starts the shutdown.
    pub fn trigger(&self) {
        self.0.send_replace(true);
    }
}

impl ShutdownSignal {
    /// Waits until the shutdown starts.
    pub async fn wait(mut self) {
        // An error means that the last trigger was dropped, which is a shutdown too.
        let _ = self.0.wait_for(|triggered| *triggered).await;
    }

    /// Runs `work` until it completes or the shutdown starts.
    pub async fn run_until_shutdown(self, work: impl Future<Output = ()>) {
        tokio::select! {
            () = self.wait() => {}
            () = work => {}
        }
    }
}
