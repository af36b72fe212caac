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
    pub(crate) fn begin(self: &Arc<Self>) -> ActiveCallGuard {
        self.count.fetch_add(1, Ordering::SeqCst);
        ActiveCallGuard(self.clone())
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
pub(crate) struct ActiveCallGuard(Arc<CallCounter>);

impl Drop for ActiveCallGuard {
    fn drop(&mut self) {
        if self.0.count.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.idle.notify_waiters();
        }
    }
}

/// The right to use a pool during a call. A replaced server does not shut down while a lease
/// exists, up to the drain limit.
pub struct ServerLease {
    _active: ActiveCallGuard,
    pool: Arc<Pool>,
}

impl ServerLease {
    /// Leases a pool. Returns `None` if the pool is draining; new calls must use its successor.
    pub(crate) fn new(pool: Arc<Pool>) -> Option<Self> {
        let _active = pool.active_calls.begin();
        (!pool.active_calls.is_draining()).then_some(Self { _active, pool })
    }
}

impl std::ops::Deref for ServerLease {
    type Target = Arc<Pool>;

    fn deref(&self) -> &Arc<Pool> {
        &self.pool
    }
}

/// The right to use a pool between calls, for example for a task. A replaced server does not shut
/// down while a lease exists, up to the drain limit. The lease does not keep a closed pool alive.
pub struct PoolLease {
    _active: ActiveCallGuard,
    pool: Weak<Pool>,
}

impl PoolLease {
    pub(crate) fn new(pool: &Arc<Pool>) -> Self {
        Self { _active: pool.active_calls.begin(), pool: Arc::downgrade(pool) }
    }

    /// Returns the pool, or `None` if it is closed.
    pub fn pool(&self) -> Option<Arc<Pool>> {
        self.pool.upgrade().filter(|pool| !pool.is_closed())
    }
}
