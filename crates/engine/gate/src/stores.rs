//! The gate's stores: pins, grants and approvals, and the journal.
//!
//! Views are built without waiting, so their findings (new or changed definitions) are written one
//! after another in a background task. Nothing here decides anything.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use toolgate_journal::{Journal, JournalError, JournalRecord};
use toolgate_model::CapabilityId;
use toolgate_store::{AccessKeyring, GrantSelector, Pin, StateStore, StoreError};

use crate::Gate;
use crate::approvals::ApprovalBroker;

/// How often to check whether another process pinned something.
const LOOK: Duration = Duration::from_secs(1);
/// Of this many failed attempts to write, one is logged.
const TOLD: u32 = 60;
/// How long closing waits for pending writes.
const PATIENCE: Duration = Duration::from_secs(5);

/// A pending write to the store.
pub(crate) enum StoreWrite {
    /// Pins new definitions.
    Pin(Vec<Pin>),
    /// Revokes the grants for a changed capability.
    Revoke(CapabilityId),
    /// Signals that all earlier writes are done.
    Flush(oneshot::Sender<()>),
}

/// The stores of a gate.
pub(crate) struct GateStores {
    pub(crate) decisions: Arc<StateStore>,
    pub(crate) broker: Arc<ApprovalBroker>,
    keys: Arc<AccessKeyring>,
    pub(crate) journal: Option<Arc<Journal>>,
    writes: mpsc::UnboundedSender<StoreWrite>,
}

impl GateStores {
    /// Returns true if an operator outside this process can see the stores. Stores without a
    /// journal are in memory only.
    pub(crate) fn is_attended(&self) -> bool {
        self.journal.is_some()
    }

    /// Queues a write.
    pub(crate) fn send(&self, write: StoreWrite) {
        let _ = self.writes.send(write); // the receiver ends with the runtime
    }

    /// Waits until all queued writes are done.
    pub(crate) async fn flush(&self) {
        let (done, flushed) = oneshot::channel();
        self.send(StoreWrite::Flush(done));
        let _ = flushed.await;
    }
}

async fn run_writes(
    broker: Arc<ApprovalBroker>,
    decisions: Arc<StateStore>,
    mut waiting: mpsc::UnboundedReceiver<StoreWrite>,
) {
    while let Some(write) = waiting.recv().await {
        let (mut pins, mut revoked) = (Vec::new(), None);
        match write {
            StoreWrite::Pin(new) => pins = new,
            StoreWrite::Revoke(id) => revoked = Some(GrantSelector::Tool(id)),
            StoreWrite::Flush(done) => drop(done.send(())),
        }
        for tries in 0_u32.. {
            let done = match &revoked {
                Some(which) => broker.revoke(which, "a changed definition").await.map(drop),
                None if pins.is_empty() => break,
                None => decisions.pin(&pins).await,
            };
            match done {
                Ok(()) => break,
                Err(error) if tries.is_multiple_of(TOLD) => {
                    tracing::error!(target: "toolgate::gate", "{error}; retrying");
                }
                Err(_) => {}
            }
            // A store without this write states something false, so it is retried until the gate is
            // dropped.
            if waiting.is_closed() && waiting.is_empty() {
                return;
            }
            tokio::time::sleep(LOOK).await; // the database may be locked for a while
        }
    }
}

/// Loads what other processes pin or remove.
async fn follow(gate: Weak<Gate>, mut seen: u64) {
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(gate) = gate.upgrade() else { return };
        let Some(stores) = gate.stores.get() else { return };
        let reloaded = match stores.decisions.change_counter().await {
            Ok(now) if now == seen => continue,
            Ok(now) => gate.reload_pins().await.map(|()| seen = now),
            Err(error) => Err(error),
        };
        if let Err(error) = reloaded {
            tracing::warn!(target: "toolgate::gate", "cannot reload pins: {error}");
        }
    }
}

impl Gate {
    /// Opens the stores and the journal. Call this before there are servers: pins must be known
    /// when servers are first seen.
    pub async fn open_stores(
        &self,
        decisions: Arc<StateStore>,
        journal: Option<Arc<Journal>>,
    ) -> Result<(), StoreError> {
        let seen = decisions.change_counter().await?;
        let pins = decisions.pin_summaries().await?;
        self.pins.lock().replace(&pins);
        let broker = ApprovalBroker::load(decisions.clone(), journal.clone()).await?;
        let keys = AccessKeyring::load(decisions.clone()).await?;
        let (writes, waiting) = mpsc::unbounded_channel();
        tokio::spawn(run_writes(broker.clone(), decisions.clone(), waiting));
        let _ = self.stores.set(GateStores { decisions, broker, keys, journal, writes });
        tokio::spawn(follow(self.me.clone(), seen));
        self.fleet.request_rebuild();
        Ok(())
    }

    /// Finishes pending writes and closes the journal.
    pub async fn close_stores(&self) -> Result<(), JournalError> {
        let Some(stores) = self.stores.get() else { return Ok(()) };
        let _ = tokio::time::timeout(PATIENCE, stores.flush()).await;
        match &stores.journal {
            Some(journal) => journal.close().await,
            None => Ok(()),
        }
    }

    /// Returns the access keys of HTTP callers, if stores are open.
    pub fn keys(&self) -> Option<&Arc<AccessKeyring>> {
        Some(&self.stores.get()?.keys)
    }

    pub(crate) fn journal(&self) -> Option<&Journal> {
        self.stores.get()?.journal.as_deref()
    }

    /// Returns the journal number of the next call.
    pub(crate) fn next_call(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Adds a note to the journal. A failure is only logged.
    pub fn note(&self, kind: &str, about: Option<&CapabilityId>, detail: &str) {
        let Some(journal) = self.journal() else { return };
        if let Err(error) = journal.append(&JournalRecord::note(kind, detail, about)) {
            tracing::error!(target: "toolgate::gate", kind, "cannot record a note: {error}");
        }
    }
}
