//! The catalog of a pool, and the handling of a server that offers nothing usable.
//!
//! A server without a usable definition is closed, because it costs a process and provides nothing.
//! Its state says so. A server that declares list changes or an extension stays open, because it
//! may offer something later. A closed server is started again when its declaration changes, when
//! the configuration is applied again, and when a connection test finds something usable.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use toolgate_model::{Catalog, ServerState};

use crate::apply::warn_of_missing;
use crate::list_changes::NullEventHandler;
use crate::report::{ConnectLog, ConnectReport};
use crate::{CheckedCatalog, FleetError, Pool, hints, listing};

impl Pool {
    /// Returns the catalog, if it is known.
    pub fn catalog(&self) -> Option<Arc<Catalog>> {
        self.checked_catalog.load().as_ref().map(|known| known.catalog.clone())
    }

    /// Returns the catalog with its check results, if it is known.
    pub(crate) fn checked_catalog(&self) -> Option<Arc<CheckedCatalog>> {
        self.checked_catalog.load_full()
    }

    /// Sets the catalog that was cached in an earlier run, unless one is known already.
    pub(crate) fn restore_catalog(&self, known: Arc<CheckedCatalog>) {
        self.checked_catalog.compare_and_swap(&None::<Arc<CheckedCatalog>>, Some(known));
    }

    pub(super) async fn publish(&self, catalog: Catalog) -> Arc<CheckedCatalog> {
        let server = self.server().clone();
        let known = CheckedCatalog::check(Arc::new(catalog), self.checked_catalog()).await;
        let known = Arc::new(known);
        let tools = known.count_visible_tools(&self.shared_server.load().spec.selection);
        tracing::info!(target: "toolgate::fleet", %server, "Loaded {tools} MCP tool(s)");
        // Save before publishing, so that a restart restores everything callers have seen.
        if !self.active_calls.is_draining() {
            self.shared.cache.save(&self.fleet_server.spec, &known.catalog).await;
        }
        let old = self.checked_catalog.swap(Some(known.clone()));
        self.shows_predecessor.store(false, Ordering::Release);
        if self.active_calls.is_draining() {
            return known;
        }
        warn_of_missing(&self.shared_server.load().spec, &known.catalog);
        let old = old.as_ref().map(|old| &*old.catalog);
        if old.is_none_or(|old| *old != *known.catalog) {
            let kinds = listing::differences(old, &known.catalog);
            self.shared.catalog_changed(server, kinds);
        }
        known
    }

    /// Opens a separate connection, closes it again and reports every phase.
    pub(crate) async fn test_connection(&self) -> ConnectReport {
        let mut log = ConnectLog::new(self.server());
        if self.fleet_server.initial_state != ServerState::NotStarted {
            log.record_not_allowed(&self.fleet_server.initial_state);
            return log.report;
        }
        if let Ok((live, catalog)) = self.attempt(Arc::new(NullEventHandler)).run(&mut log).await {
            live.close().await;
            match CheckedCatalog::check(Arc::new(catalog), self.checked_catalog())
                .await
                .unusable_reason()
            {
                Some(useless) => drop(log.record_failure(hints::unusable_failure(useless))),
                None => self.restart_if_unusable(),
            }
        }
        log.report
    }

    /// Closes the connections to a server that offers nothing usable.
    pub(super) async fn close_unusable(&self, log: &mut ConnectLog, why: String) -> FleetError {
        self.closed_as_unusable.store(true, Ordering::Release);
        self.end_connections().await;
        let state = log.record_failure(hints::unusable_failure(why));
        let reason = state.reason().unwrap_or_default();
        tracing::warn!(target: "toolgate::fleet", server = %self.server(), "{reason}; closed");
        self.set_state(state.clone());
        self.down_error(state)
    }

    /// Starts a server again that was closed because it offered nothing usable.
    pub(crate) fn restart_if_unusable(&self) {
        if self.closed_as_unusable.swap(false, Ordering::AcqRel)
            && let Some(pool) = self.me.upgrade()
        {
            pool.start();
        }
    }
}
