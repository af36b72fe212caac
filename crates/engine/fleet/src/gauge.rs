//! How many calls are under way on a pool, so that it can leave after the last of them.
//!
//! A question that waits for somebody's answer is part of its call, and counts. What the counted
//! calls do is not its business.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use tokio::sync::Notify;

use crate::Pool;

/// Counts calls. Leaving and the count are seen in one order by everybody, so that a call is either
/// waited for or turned away.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    count: AtomicUsize,
    leaving: AtomicBool,
    idle: Notify,
}

impl Gauge {
    /// Counts one more, whatever happens.
    pub(crate) fn begin(&self) -> UnderWay<'_> {
        self.count.fetch_add(1, Ordering::SeqCst);
        UnderWay(self)
    }

    fn end(&self) {
        if self.count.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.idle.notify_waiters();
        }
    }

    /// From now on nobody is let in who was not there before.
    pub(crate) fn leave(&self) {
        self.leaving.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::SeqCst)
    }

    /// Ready once nothing is under way.
    pub(crate) async fn idle(&self) {
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

/// One call, until it is dropped.
pub(crate) struct UnderWay<'a>(&'a Gauge);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// A pool in use: as long as this lives, a server that is replaced waits with its end, up to the
/// drain limit.
pub struct Visit(Arc<Pool>);

impl Visit {
    /// `None` if the pool is about to end: there is another one for whoever comes now.
    pub(crate) fn new(pool: Arc<Pool>) -> Option<Self> {
        std::mem::forget(pool.gauge.begin());
        let visit = Self(pool);
        (!visit.0.gauge.is_leaving()).then_some(visit)
    }
}

impl std::ops::Deref for Visit {
    type Target = Arc<Pool>;

    fn deref(&self) -> &Arc<Pool> {
        &self.0
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.0.gauge.end();
    }
}

/// Something that goes on at a server between calls, like a task: as long as this lives, a server
/// that is replaced waits with its end, up to the drain limit. It does not keep what is over.
pub struct Stay(Weak<Pool>);

impl Stay {
    pub(crate) fn new(pool: &Arc<Pool>) -> Self {
        std::mem::forget(pool.gauge.begin());
        Self(Arc::downgrade(pool))
    }

    /// Where it goes on; `None` once that has ended.
    pub fn pool(&self) -> Option<Arc<Pool>> {
        self.0.upgrade().filter(|pool| !pool.is_closed())
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        if let Some(pool) = self.0.upgrade() {
            pool.gauge.end();
        }
    }
}
