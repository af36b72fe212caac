//! Counts the calls in progress on a pool, so that the pool can close after the last one.
//!
//! A call that waits for the answer to a question counts.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use tokio::sync::Notify;

use crate::Pool;

/// Counts the calls in progress. The counter and the draining flag use sequentially consistent
/// ordering, so that every call is either waited for or turned away.
#[derive(Debug, Default)]
pub(crate) struct CallCounter {
    count: AtomicUsize,
    draining: AtomicBool,
    idle: Notify,
}

impl CallCounter {
    /// Counts a call, even while draining.
    pub(crate) fn begin(&self) -> ActiveCallGuard<'_> {
        self.count.fetch_add(1, Ordering::SeqCst);
        ActiveCallGuard(self)
    }

    fn end(&self) {
        if self.count.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.idle.notify_waiters();
        }
    }

    /// Turns away new leases from now on.
    pub(crate) fn start_draining(&self) {
        self.draining.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::SeqCst)
    }

    /// Waits until no call is in progress.
    pub(crate) async fn wait_idle(&self) {
        loop {
            let mut idle = std::pin::pin!(self.idle.notified());
            idle.as_mut().enable();
            if self.count.load(Ordering::SeqCst) == 0 {
                return;
            }
            idle.await;
        }
    }
}

/// Counts one call until it is dropped.
pub(crate) struct ActiveCallGuard<'a>(&'a CallCounter);

impl Drop for ActiveCallGuard<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// The right to use a pool during a call. A replaced server does not shut down while a lease
/// exists, up to the drain limit.
pub struct ServerLease(Arc<Pool>);

impl ServerLease {
    /// Leases a pool. Returns `None` if the pool is draining; new calls must use its successor.
    pub(crate) fn new(pool: Arc<Pool>) -> Option<Self> {
        std::mem::forget(pool.active_calls.begin());
        let lease = Self(pool);
        (!lease.0.active_calls.is_draining()).then_some(lease)
    }
}

impl std::ops::Deref for ServerLease {
    type Target = Arc<Pool>;

    fn deref(&self) -> &Arc<Pool> {
        &self.0
    }
}

impl Drop for ServerLease {
    fn drop(&mut self) {
        self.0.active_calls.end();
    }
}

/// The right to use a pool between calls, for example for a task. A replaced server does not shut
/// down while a lease exists, up to the drain limit. The lease does not keep a closed pool alive.
pub struct PoolLease(Weak<Pool>);

impl PoolLease {
    pub(crate) fn new(pool: &Arc<Pool>) -> Self {
        std::mem::forget(pool.active_calls.begin());
        Self(Arc::downgrade(pool))
    }

    /// Returns the pool, or `None` if it is closed.
    pub fn pool(&self) -> Option<Arc<Pool>> {
        self.0.upgrade().filter(|pool| !pool.is_closed())
    }
}

impl Drop for PoolLease {
    fn drop(&mut self) {
        if let Some(pool) = self.0.upgrade() {
            pool.active_calls.end();
        }
    }
}
