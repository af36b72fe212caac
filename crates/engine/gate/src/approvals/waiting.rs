//! The calls of this process that wait for a decision, by the id of their row.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Semaphore, watch};
use toolgate_store::Verdict;

/// Identical calls that may wait for one decision.
const PER_ROW: usize = 32;

/// Who waits for what.
#[derive(Default)]
pub(super) struct Table(Mutex<HashMap<String, Entry>>);

struct Entry {
    waiters: usize,
    /// Whether the row is to stay when nobody waits any more: somebody was told its id.
    stays: bool,
    verdict: watch::Sender<Option<Verdict>>,
    turn: Arc<Semaphore>,
}

/// One who waits.
pub(super) struct Seat {
    /// What was decided, once it is.
    pub(super) verdict: watch::Receiver<Option<Verdict>>,
    /// Of several identical calls, one at a time shows its form.
    pub(super) turn: Arc<Semaphore>,
}

impl Table {
    fn entries(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a row; `stays` says that others may rely on it, if nobody here waits for it yet.
    /// Nothing, if too many do.
    pub(super) fn enter(&self, id: &str, stays: bool) -> Option<Seat> {
        let mut entries = self.entries();
        let entry = entries.entry(id.to_owned()).or_insert_with(|| Entry {
            waiters: 0,
            stays,
            verdict: watch::Sender::new(None),
            turn: Arc::new(Semaphore::new(1)),
        });
        if entry.waiters >= PER_ROW {
            return None;
        }
        entry.waiters += 1;
        Some(Seat { verdict: entry.verdict.subscribe(), turn: entry.turn.clone() })
    }

    /// Somebody was told this id: the row is to stay.
    pub(super) fn stay(&self, id: &str) {
        if let Some(entry) = self.entries().get_mut(id) {
            entry.stays = true;
        }
    }

    /// One waits no longer. Whether that makes the row one that nobody wants any more.
    pub(super) fn leave(&self, id: &str) -> bool {
        let mut entries = self.entries();
        let Some(entry) = entries.get_mut(id) else { return false };
        entry.waiters -= 1;
        if entry.waiters > 0 {
            return false;
        }
        let unwanted = !entry.stays && entry.verdict.borrow().is_none();
        entries.remove(id);
        unwanted
    }

    /// Whether somebody here waits for this row.
    pub(super) fn has(&self, id: &str) -> bool {
        self.entries().contains_key(id)
    }

    /// The rows somebody here waits for.
    pub(super) fn ids(&self) -> Vec<String> {
        self.entries().keys().cloned().collect()
    }

    /// Tells those who wait what was decided.
    pub(super) fn decide(&self, id: &str, verdict: Verdict) {
        if let Some(entry) = self.entries().get(id) {
            entry.verdict.send_replace(Some(verdict));
        }
    }
}
