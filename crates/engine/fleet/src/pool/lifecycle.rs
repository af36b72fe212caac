//! The lifecycle of a pool: starting, replacing a predecessor, draining and closing.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::future::join_all;
use toolgate_wire::method;

use crate::{CheckedCatalog, Pool};

impl Pool {
    /// Connects to the server in the background.
    pub(crate) fn start(self: &Arc<Self>) {
        let pool = self.clone();
        let start = tokio::spawn(async move { drop(pool.ensure_connected().await) });
        self.replace_retry(Some(start.abort_handle()));
    }

    /// Shows the catalog of the replaced server until this server's own catalog is known. Calls
    /// wait for this server, and an identical list does not count as changed.
    pub(crate) fn show_predecessor(&self, known: Arc<CheckedCatalog>) {
        self.shows_predecessor.store(true, Ordering::Release);
        self.checked_catalog.store(Some(known));
    }

    /// Returns true if the pool shows the catalog of its predecessor.
    pub(crate) fn shows_predecessor(&self) -> bool {
        self.shows_predecessor.load(Ordering::Acquire)
    }

    /// Stops showing the catalog of the predecessor, after this server failed to connect.
    pub(crate) fn hide_predecessor(&self) {
        if self.shows_predecessor.swap(false, Ordering::AcqRel) {
            self.checked_catalog.store(None);
            let kinds = toolgate_model::CapabilityKind::ALL.to_vec();
            self.shared.catalog_changed(self.server().clone(), kinds);
        }
    }

    /// Marks the pool as removed from the fleet. Calls in progress continue; later ones fail
    /// because there is a successor. Subscriptions and log levels move to the successor.
    pub(crate) fn start_draining(&self, successor: Option<&Arc<Self>>) {
        if let Some(successor) = successor {
            let _ = self.successor.set(Arc::downgrade(successor));
        }
        self.active_calls.start_draining();
        self.cancel_retry();
        if let Some(successor) = successor {
            let wanted = self.with_subscriptions(std::mem::take);
            let any = !wanted.subscriptions().is_empty();
            successor.with_subscriptions(|now| now.adopt(wanted));
            if let Some(live) = successor.live_connection() {
                successor.restore_caller_settings(&live);
            } else if any && successor.is_per_caller() {
                successor.start();
            }
        }
    }

    /// Returns the pool that replaced this one.
    pub(crate) fn successor(&self) -> Option<Arc<Self>> {
        self.successor.get()?.upgrade()
    }

    /// Returns true if the pool was replaced, even if its successor no longer exists.
    pub(crate) fn is_replaced(&self) -> bool {
        self.successor.get().is_some()
    }

    /// Cancels the scheduled connection attempt.
    fn cancel_retry(&self) {
        if let Some(attempt) = self.replace_retry(None) {
            attempt.abort();
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Closes every connection for good.
    pub(crate) async fn close(&self) {
        self.active_calls.start_draining();
        self.closed.store(true, Ordering::SeqCst);
        self.cancel_retry();
        self.end_connections().await;
    }

    pub(crate) async fn end_connections(&self) {
        let live = self.connection.swap(None).into_iter().chain(self.spares.take());
        join_all(live.map(|live| async move { live.close().await })).await;
    }

    /// Notifies the server that the roots changed.
    pub(crate) fn notify_roots_changed(&self) {
        for live in self.live_connection().iter().chain(&self.spares.all()) {
            live.session.notify(method::ROOTS_LIST_CHANGED, None);
        }
    }
}
