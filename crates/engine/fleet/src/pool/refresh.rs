//! Rereads lists, either because the server announced a change or because a caller needs a recent
//! list.
//!
//! A server need not announce changed definitions. Before using one, the gate can request a list
//! with a maximum age. Concurrent requests share one reread. A list that cannot be read is an error
//! that the caller handles.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use toolgate_model::CapabilityKind;
use toolgate_session::SessionError;

use crate::connect::ServerConnection;
use crate::list_changes::ListChanges;
use crate::{CheckedCatalog, FleetError, Pool, listing};

/// Records when each list was last read.
#[derive(Debug, Default)]
pub(crate) struct ListRefreshTimes {
    /// For each kind, when the last successful read began. Later changes are not included.
    read_at: Mutex<[Option<Instant>; CapabilityKind::ALL.len()]>,
    /// Held while lists are read and published, one reader at a time.
    reading: tokio::sync::Mutex<()>,
}

impl ListRefreshTimes {
    pub(super) fn note(&self, kinds: &[CapabilityKind], begun: Instant) {
        let mut read_at = self.read_at.lock();
        for kind in kinds {
            if let Some(at) = read_at.get_mut(*kind as usize) {
                *at = (*at).max(Some(begun));
            }
        }
    }

    fn read_at(&self, kind: CapabilityKind) -> Option<Instant> {
        let read_at = self.read_at.lock();
        read_at.get(kind as usize).copied().flatten()
    }
}

/// Takes change marks while lists are read. New announcements set the marks again. If the read
/// fails or is cancelled, dropping the guard restores the marks.
struct ListChangeGuard<'a> {
    changes: &'a ListChanges,
    kinds: Vec<CapabilityKind>,
}

impl<'a> ListChangeGuard<'a> {
    fn take(changes: &'a ListChanges, kinds: &[CapabilityKind]) -> Self {
        let kinds = kinds.iter().copied().filter(|kind| changes.take(*kind)).collect();
        Self { changes, kinds }
    }

    fn commit(mut self) {
        self.kinds.clear();
    }
}

impl Drop for ListChangeGuard<'_> {
    fn drop(&mut self) {
        for kind in &self.kinds {
            self.changes.restore(*kind);
        }
    }
}

impl Pool {
    /// Returns a catalog whose list of this kind is at most `max_age` old and includes every change
    /// the server announced. Rereads the list if needed, within the time limit of a call, and
    /// connects if there is no connection.
    ///
    /// The result is published before this function returns: if anything changed, the fleet's
    /// generation has increased.
    pub async fn refresh_if_stale(
        &self,
        kind: CapabilityKind,
        max_age: Duration,
    ) -> Result<Arc<CheckedCatalog>, FleetError> {
        let wanted = Instant::now();
        if let Some(known) = self.fresh(kind, wanted, max_age) {
            return Ok(known);
        }
        let renewed = Box::pin(self.refresh_now(kind, wanted, max_age)).await;
        match (self.successor(), &renewed) {
            (Some(next), Err(_)) => Box::pin(next.refresh_if_stale(kind, max_age)).await,
            _ => renewed,
        }
    }

    fn fresh(
        &self,
        kind: CapabilityKind,
        wanted: Instant,
        max_age: Duration,
    ) -> Option<Arc<CheckedCatalog>> {
        let read_at = self.refresh_state.read_at(kind)?;
        // A list read after `wanted` has age zero.
        let is_young = wanted.saturating_duration_since(read_at) <= max_age;
        let has_changed = self.changes.has(kind);
        (is_young && !has_changed && self.live_connection().is_some())
            .then(|| self.checked_catalog())?
    }

    async fn refresh_now(
        &self,
        kind: CapabilityKind,
        wanted: Instant,
        max_age: Duration,
    ) -> Result<Arc<CheckedCatalog>, FleetError> {
        let limit = self.timeouts().own_request();
        let reading = async {
            let live = self.ensure_connected().await?;
            let _one = self.refresh_state.reading.lock().await;
            if let Some(known) = self.fresh(kind, wanted, max_age) {
                return Ok(known);
            }
            match self.read_again(&live, &[kind]).await {
                // Reconnecting reads all lists again.
                Err(_) if self.live_connection().is_none() => {
                    self.ensure_connected().await?;
                    let known = self.fresh(kind, wanted, max_age);
                    known.ok_or_else(|| FleetError::Gone(self.server().clone()))
                }
                read => read,
            }
        };
        match tokio::time::timeout(limit, reading).await {
            Ok(read) => read,
            Err(_) => Err(self.session_error(SessionError::TimedOut(limit), String::new())),
        }
    }

    /// Reads some lists and publishes them. The caller holds `reading`.
    async fn read_again(
        &self,
        live: &Arc<ServerConnection>,
        kinds: &[CapabilityKind],
    ) -> Result<Arc<CheckedCatalog>, FleetError> {
        let known =
            self.checked_catalog().ok_or_else(|| FleetError::Gone(self.server().clone()))?;
        let begun = Instant::now();
        let marks = ListChangeGuard::take(&self.changes, kinds);
        let read = listing::list_kinds(&live.session, &known.catalog, kinds).await;
        let (catalog, changed) = match read {
            Ok(read) => read,
            Err(error) => return Err(self.session_failure(live, error).await),
        };
        // A connection opened in the meantime has read everything later than this.
        if !self.live_connection().is_some_and(|now| Arc::ptr_eq(&now, live)) {
            return Err(FleetError::Gone(self.server().clone()));
        }
        let known = match changed.is_empty() {
            true => known,
            false => self.publish(catalog).await,
        };
        marks.commit();
        self.refresh_state.note(kinds, begun);
        Ok(known)
    }

    /// Rereads the lists that the server announced as changed.
    pub(crate) async fn refresh_changed(&self) {
        let _one = self.refresh_state.reading.lock().await;
        let kinds = self.changes.all();
        let Some(live) = self.live_connection().filter(|_| !kinds.is_empty()) else { return };
        if let Err(error) = self.read_again(&live, &kinds).await {
            tracing::warn!(
                target: "toolgate::fleet", server = %self.server(), %error,
                "cannot reread a changed list"
            );
        }
    }
}
