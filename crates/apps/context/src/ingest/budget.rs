//! How much of documents is in memory at once: what was read and is not kept yet.
//!
//! Without it, fast readers and a slow disk would gather a whole folder.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes that may be in memory, shared by those who read.
#[derive(Debug, Clone)]
pub(super) struct Budget(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    whole: u64,
    left: Mutex<u64>,
    freed: Condvar,
}

/// A part of the budget, which comes back when it is dropped.
#[derive(Debug)]
pub(super) struct Share {
    of: Budget,
    bytes: u64,
}

impl Budget {
    pub(super) fn new(bytes: u64) -> Self {
        Self(Arc::new(Shared { whole: bytes, left: Mutex::new(bytes), freed: Condvar::new() }))
    }

    /// Waits until so much is free. Who asks for more than there is gets all of it, alone.
    pub(super) fn take(&self, bytes: u64) -> Share {
        let bytes = bytes.min(self.0.whole);
        let mut left = self.0.left();
        while *left < bytes {
            left = self.0.freed.wait(left).unwrap_or_else(PoisonError::into_inner);
        }
        *left -= bytes;
        Share { of: self.clone(), bytes }
    }
}

impl Shared {
    fn left(&self) -> MutexGuard<'_, u64> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        *self.of.0.left() += self.bytes;
        self.of.0.freed.notify_all();
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
        let budget = Budget::new(10);
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
        let budget = Budget::new(10);
        let all = budget.take(1000);
        assert_eq!(*budget.0.left(), 0);
        drop(all);
        assert_eq!(*budget.0.left(), 10);
    }
}
