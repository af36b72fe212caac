//! The waiting calls of this process, by the id of their row.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{Semaphore, watch};
use toolgate_store::ApprovalDecision;

/// The most identical calls that may wait for one decision.
const PER_ROW: usize = 32;

/// The rows that calls of this process wait for.
#[derive(Default)]
pub(super) struct WaiterTable(Mutex<HashMap<String, WaiterEntry>>);

/// One row that calls wait for.
struct WaiterEntry {
    waiters: usize,
    /// Whether the row stays when no call waits any more, because its id was given out.
    stays: bool,
    verdict: watch::Sender<Option<ApprovalDecision>>,
    turn: Arc<Semaphore>,
}

/// One waiting call.
pub(super) struct ApprovalWaiter {
    /// The decision, once there is one.
    pub(super) verdict: watch::Receiver<Option<ApprovalDecision>>,
    /// Only one of several identical calls shows its form at a time.
    pub(super) turn: Arc<Semaphore>,
}

impl WaiterTable {
    /// Starts to wait for a row; `None` if too many calls already do. `stays` applies to the first:
    /// it says that others may rely on the row.
    pub(super) fn enter(&self, id: &str, stays: bool) -> Option<ApprovalWaiter> {
        let mut entries = self.0.lock();
        let entry = entries.entry(id.to_owned()).or_insert_with(|| WaiterEntry {
            waiters: 0,
            stays,
            verdict: watch::Sender::new(None),
            turn: Arc::new(Semaphore::new(1)),
        });
        if entry.waiters >= PER_ROW {
            return None;
        }
        entry.waiters += 1;
        Some(ApprovalWaiter { verdict: entry.verdict.subscribe(), turn: entry.turn.clone() })
    }

    /// Keeps the row, because its id was given out.
    pub(super) fn keep_open(&self, id: &str) {
        if let Some(entry) = self.0.lock().get_mut(id) {
            entry.stays = true;
        }
    }

    /// Ends one wait. Returns true if the row is no longer needed.
    pub(super) fn leave(&self, id: &str) -> bool {
        let mut entries = self.0.lock();
        let Some(entry) = entries.get_mut(id) else { return false };
        entry.waiters -= 1;
        if entry.waiters > 0 {
            return false;
        }
        let unwanted = !entry.stays && entry.verdict.borrow().is_none();
        entries.remove(id);
        unwanted
    }

    /// Returns true if a call of this process waits for the row.
    pub(super) fn has(&self, id: &str) -> bool {
        self.0.lock().contains_key(id)
    }

    /// Returns the rows that calls of this process wait for.
    pub(super) fn ids(&self) -> Vec<String> {
        self.0.lock().keys().cloned().collect()
    }

    /// Passes a decision to the waiting calls.
    pub(super) fn decide(&self, id: &str, verdict: ApprovalDecision) {
        if let Some(entry) = self.0.lock().get(id) {
            entry.verdict.send_replace(Some(verdict));
        }
    }
}
