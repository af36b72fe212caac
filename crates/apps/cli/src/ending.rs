//! One signal that everything ends, for as many as wait for it.

use std::sync::Arc;

use tokio::sync::watch;
use toolgate_host::Signals;

use crate::exit::{Exit, Failure};
use crate::out;

/// Whoever holds it can end everything; the last one to drop it does so too.
#[derive(Debug, Clone)]
pub struct Stop(Arc<watch::Sender<bool>>);

/// Waits for the end. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Ending(watch::Receiver<bool>);

/// Both sides.
pub fn pair() -> (Stop, Ending) {
    let (sender, receiver) = watch::channel(false);
    (Stop(Arc::new(sender)), Ending(receiver))
}

/// Both sides, with the signals of the system on ours: the first lets calls in flight finish, the
/// second does not wait.
pub fn on_signal() -> Result<(Stop, Ending), Failure> {
    let failed = |error| Failure::failed(format!("listen for signals: {error}"));
    let mut signals = Signals::new().map_err(failed)?;
    let (stop, ending) = pair();
    let end = stop.clone();
    tokio::spawn(async move {
        signals.next().await;
        out::note("ending: calls in flight may finish; a second signal ends at once");
        end.now();
        signals.next().await;
        std::process::exit(Exit::Failed as i32);
    });
    Ok((stop, ending))
}

impl Stop {
    /// Ends everything.
    pub fn now(&self) {
        self.0.send_replace(true);
    }
}

impl Ending {
    /// Ready once everything ends.
    pub async fn reached(mut self) {
        // A sender that is gone has ended everything as well.
        let _ = self.0.wait_for(|over| *over).await;
    }

    /// Does something until everything ends, if it does not end before.
    pub async fn or(self, work: impl Future<Output = ()>) {
        tokio::select! {
            () = self.reached() => {}
            () = work => {}
        }
    }
}
