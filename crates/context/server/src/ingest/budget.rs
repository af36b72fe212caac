//! Limits how many bytes of documents are in memory between reading and storing.
//!
//! Without the limit, fast readers and a slow disk would accumulate a whole folder.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The bytes that may be in memory, shared by all workers.
#[derive(Debug, Clone)]
pub(super) struct MemoryBudget(Arc<BudgetState>);

/// The shared state of a [`MemoryBudget`].
#[derive(Debug)]
struct BudgetState {
    whole: u64,
    left: Mutex<u64>,
    freed: Condvar,
}

/// A reserved part of the budget. Dropping it returns the bytes.
#[derive(Debug)]
pub(super) struct BudgetGuard {
    budget: MemoryBudget,
    bytes: u64,
}

impl MemoryBudget {
    pub(super) fn new(bytes: u64) -> Self {
        Self(Arc::new(BudgetState { whole: bytes, left: Mutex::new(bytes), freed: Condvar::new() }))
    }

    /// Waits until `bytes` are free and reserves them. A request for more than the total gets all
    /// of it.
    pub(super) fn take(&self, bytes: u64) -> BudgetGuard {
        let bytes = bytes.min(self.0.whole);
        let mut left = self.0.left();
        while *left < bytes {
            left = self.0.freed.wait(left).unwrap_or_else(PoisonError::into_inner);
        }
        *left -= bytes;
        BudgetGuard { budget: self.clone(), bytes }
    }
}

impl BudgetState {
    fn left(&self) -> MutexGuard<'_, u64> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for BudgetGuard {
    fn drop(&mut self) {
        *self.budget.0.left() += self.bytes;
        self.budget.0.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn who_asks_for_more_than_is_left_waits_for_it() {
        let budget = MemoryBudget::new(10);
        let first = budget.take(6);
        let (sender, receiver) = mpsc::channel();
        let asking = budget.clone();
        let waiting = thread::spawn(move || {
            let share = asking.take(5);
            sender.send(()).unwrap();
            drop(share);
        });
        assert!(receiver.recv_timeout(Duration::from_millis(50)).is_err());
        drop(first);
        receiver.recv_timeout(Duration::from_secs(10)).unwrap();
        waiting.join().unwrap();
        assert_eq!(*budget.0.left(), 10);
    }

    #[test]
    fn who_asks_for_more_than_there_is_gets_all_of_it() {
        let budget = MemoryBudget::new(10);
        let all = budget.take(1000);
        assert_eq!(*budget.0.left(), 0);
        drop(all);
        assert_eq!(*budget.0.left(), 10);
    }
}
