//! What a pool offers: as remembered, as discovered, as changed since; and what becomes of a server
//! that offers nothing.
//!
//! A server with no definition anybody could use is closed, and says so in its state: it costs a
//! process and gives nothing. One that announces changes of its lists may fill them later and stays,
//! as does one with an extension. It is brought up again when it is declared otherwise, when files
//! are applied anew, and when somebody examines it and finds that it has something now.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use toolgate_model::{Catalog, ServerState};

use crate::apply::warn_of_missing;
use crate::report::{Log, Report};
use crate::watch::Deaf;
use crate::{FleetError, Known, Pool, hints, refresh};

impl Pool {
    /// What it offers, as far as is known.
    pub fn catalog(&self) -> Option<Arc<Catalog>> {
        self.known.load().as_ref().map(|known| known.catalog.clone())
    }

    /// The same, with what is known of each definition.
    pub(crate) fn known(&self) -> Option<Arc<Known>> {
        self.known.load_full()
    }

    /// Shows what was known of it before this process began.
    pub(crate) fn remember(&self, known: Arc<Known>) {
        self.known.compare_and_swap(&None::<Arc<Known>>, Some(known));
    }

    pub(super) async fn publish(&self, catalog: Catalog) -> Arc<Known> {
        let server = self.server().clone();
        let known = Known::of(Arc::new(catalog), self.known()).await;
        let known = Arc::new(known);
        let tools = known.shown_tools(&self.declared.load().spec.selection);
        tracing::info!(target: "toolgate::fleet", %server, "Loaded {tools} MCP tool(s)");
        // Before it is shown: what callers have seen is there after a restart too.
        if !self.gauge.is_leaving() {
            self.shared.memory.save(&self.member.spec, &known.catalog).await;
        }
        let old = self.known.swap(Some(known.clone()));
        self.borrowed.store(false, Ordering::Release);
        if self.gauge.is_leaving() {
            return known;
        }
        warn_of_missing(&self.declared.load().spec, &known.catalog);
        let old = old.as_ref().map(|old| &*old.catalog);
        if old.is_none_or(|old| *old != *known.catalog) {
            let kinds = refresh::differences(old, &known.catalog);
            self.shared.catalog_changed(server, kinds);
        }
        known
    }

    /// Brings up a connection of its own and closes it again, to see how that goes.
    pub(crate) async fn examine(&self) -> Report {
        let mut log = Log::new(self.server());
        if self.member.standing != ServerState::NotStarted {
            log.not_allowed(&self.member.standing);
            return log.report;
        }
        if let Ok((live, catalog)) = self.attempt(Arc::new(Deaf)).run(&mut log).await {
            live.close().await;
            match Known::of(Arc::new(catalog), self.known()).await.useless() {
                Some(useless) => drop(log.failed(hints::useless(useless))),
                None => self.reconsider(),
            }
        }
        log.report
    }

    /// Ends the connection of a server nobody can use.
    pub(super) async fn close_useless(&self, log: &mut Log, why: String) -> FleetError {
        self.useless.store(true, Ordering::Release);
        self.end_connections().await;
        let state = log.failed(hints::useless(why));
        let reason = state.reason().unwrap_or_default();
        tracing::warn!(target: "toolgate::fleet", server = %self.server(), "{reason}; closed");
        self.set_state(state.clone());
        self.down(state)
    }

    /// Brings a server up again that was closed because it offered nothing.
    pub(crate) fn reconsider(&self) {
        if self.useless.swap(false, Ordering::AcqRel)
            && let Some(pool) = self.me().upgrade()
        {
            pool.start();
        }
    }
}
