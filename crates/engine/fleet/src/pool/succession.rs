//! How a pool begins, and how it ends: started in the background, shown what its predecessor
//! offered, left for a successor, closed.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::future::join_all;
use toolgate_wire::method;

use crate::{Known, Pool};

impl Pool {
    /// Brings the server up in the background.
    pub(crate) fn start(self: &Arc<Self>) {
        let pool = self.clone();
        let start = tokio::spawn(async move { drop(pool.live().await) });
        self.retry(Some(start.abort_handle()));
    }

    /// Shows what the server it replaces offered, until it is known what this one does: calls that
    /// come meanwhile wait for it, and a list that turns out the same has not changed.
    pub(crate) fn show_meanwhile(&self, known: Arc<Known>) {
        self.borrowed.store(true, Ordering::Release);
        self.known.store(Some(known));
    }

    /// Whether what it shows is another's.
    pub(crate) fn is_borrowed(&self) -> bool {
        self.borrowed.load(Ordering::Acquire)
    }

    /// A server that does not come up offers nothing of another's.
    pub(crate) fn give_back(&self) {
        if self.borrowed.swap(false, Ordering::AcqRel) {
            self.known.store(None);
            let kinds = toolgate_model::CapabilityKind::ALL.to_vec();
            self.shared.catalog_changed(self.server().clone(), kinds);
        }
    }

    /// It is in no book any more. Calls under way go on; whoever comes too late is told that there
    /// is a successor, which in turn is told what callers wanted to hear of.
    pub(crate) fn leave(&self, successor: Option<&Arc<Self>>) {
        if let Some(successor) = successor {
            let _ = self.successor.set(Arc::downgrade(successor));
        }
        self.gauge.leave();
        self.abandon_attempt();
        if let Some(successor) = successor {
            let wanted = self.wanted(std::mem::take);
            let any = !wanted.subscriptions().is_empty();
            successor.wanted(|now| now.adopt(wanted));
            if let Some(live) = successor.usable() {
                successor.tell_again(&live);
            } else if any && successor.is_own() {
                successor.start();
            }
        }
    }

    /// Who took its place.
    pub(crate) fn successor(&self) -> Option<Arc<Self>> {
        self.successor.get()?.upgrade()
    }

    /// Whether another took its place, who may be gone himself by now.
    pub(crate) fn is_replaced(&self) -> bool {
        self.successor.get().is_some()
    }

    /// Nobody waits for an attempt that nobody asked for.
    fn abandon_attempt(&self) {
        if let Some(attempt) = self.retry(None) {
            attempt.abort();
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Ends every connection, for good.
    pub(crate) async fn close(&self) {
        self.gauge.leave();
        self.closed.store(true, Ordering::SeqCst);
        self.abandon_attempt();
        self.end_connections().await;
    }

    pub(crate) async fn end_connections(&self) {
        let live = self.live.swap(None).into_iter().chain(self.spares.take());
        join_all(live.map(|live| async move { live.close().await })).await;
    }

    /// What `roots/list` answers is different now.
    pub(crate) fn tell_roots_changed(&self) {
        for live in self.usable().iter().chain(&self.spares.all()) {
            live.session.notify(method::ROOTS_LIST_CHANGED, None);
        }
    }
}
