//! Lists that are read again: because the server said that they changed, or because somebody wants
//! to be sure that they did not.
//!
//! A server need not say that a definition changed. Whoever is about to use one can ask for a list
//! that is not older than he wants: many who ask at once wait for one reading. A list that cannot be
//! read is told; what to make of it is his decision.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use toolgate_model::CapabilityKind;
use toolgate_session::SessionError;

use crate::connect::Live;
use crate::watch::Changes;
use crate::{FleetError, Known, Pool, refresh};

/// When lists were read.
#[derive(Debug, Default)]
pub(crate) struct Renewal {
    /// When the reading of each kind began that is now known; what changed later is not in it.
    read_at: Mutex<[Option<Instant>; CapabilityKind::ALL.len()]>,
    /// One reading at a time, and one change of what is known by it.
    reading: tokio::sync::Mutex<()>,
}

impl Renewal {
    fn note(&self, kinds: &[CapabilityKind], begun: Instant) {
        let mut read_at = self.read_at.lock().unwrap_or_else(PoisonError::into_inner);
        for kind in kinds {
            if let Some(at) = read_at.get_mut(*kind as usize) {
                *at = (*at).max(Some(begun));
            }
        }
    }

    /// Everything was read, beginning then.
    pub(crate) fn note_all(&self, begun: Instant) {
        self.note(&CapabilityKind::ALL, begun);
    }

    fn read_at(&self, kind: CapabilityKind) -> Option<Instant> {
        let read_at = self.read_at.lock().unwrap_or_else(PoisonError::into_inner);
        read_at.get(kind as usize).copied().flatten()
    }
}

/// What a server told of its lists, while they are read: what it tells from now on is told again,
/// and what comes of a reading that failed or was given up is not forgotten.
struct Told<'a> {
    changes: &'a Changes,
    kinds: Vec<CapabilityKind>,
}

impl<'a> Told<'a> {
    fn taken(changes: &'a Changes, kinds: &[CapabilityKind]) -> Self {
        let kinds = kinds.iter().copied().filter(|kind| changes.take(*kind)).collect();
        Self { changes, kinds }
    }

    fn followed(mut self) {
        self.kinds.clear();
    }
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        for kind in &self.kinds {
            self.changes.restore(*kind);
        }
    }
}

impl Pool {
    /// What the server offers, by a list of this kind that is at most so old when this is called,
    /// and older than no change the server has told of. Reads it now if it must, within the time a
    /// call may take; brings the server up if it is not.
    ///
    /// What was read is published before this returns: the fleet's generation has moved if anything
    /// is different.
    pub async fn renewed(
        &self,
        kind: CapabilityKind,
        max_age: Duration,
    ) -> Result<Arc<Known>, FleetError> {
        let wanted = Instant::now();
        if let Some(known) = self.fresh(kind, wanted, max_age) {
            return Ok(known);
        }
        let renewed = Box::pin(self.renew(kind, wanted, max_age)).await;
        match (self.successor(), &renewed) {
            (Some(next), Err(_)) => Box::pin(next.renewed(kind, max_age)).await,
            _ => renewed,
        }
    }

    fn fresh(
        &self,
        kind: CapabilityKind,
        wanted: Instant,
        max_age: Duration,
    ) -> Option<Arc<Known>> {
        let read_at = self.renewal.read_at(kind)?;
        // What was read before now is as old as now says; what was read since is not older than now.
        let young = wanted.saturating_duration_since(read_at) <= max_age;
        let told_otherwise = self.changes.has(kind);
        (young && !told_otherwise && self.usable().is_some()).then(|| self.known())?
    }

    async fn renew(
        &self,
        kind: CapabilityKind,
        wanted: Instant,
        max_age: Duration,
    ) -> Result<Arc<Known>, FleetError> {
        let limit = self.timeouts().own_request();
        let reading = async {
            let live = self.live().await?;
            let _one = self.renewal.reading.lock().await;
            if let Some(known) = self.fresh(kind, wanted, max_age) {
                return Ok(known);
            }
            match self.read_again(&live, &[kind]).await {
                // Brought up anew, it reads everything anew.
                Err(_) if self.usable().is_none() => {
                    self.live().await?;
                    let known = self.fresh(kind, wanted, max_age);
                    known.ok_or_else(|| FleetError::Gone(self.server().clone()))
                }
                read => read,
            }
        };
        match tokio::time::timeout(limit, reading).await {
            Ok(read) => read,
            Err(_) => Err(self.failed(SessionError::TimedOut(limit), String::new())),
        }
    }

    /// Reads some lists and makes them known. The caller holds `reading`.
    async fn read_again(
        &self,
        live: &Arc<Live>,
        kinds: &[CapabilityKind],
    ) -> Result<Arc<Known>, FleetError> {
        let known = self.known().ok_or_else(|| FleetError::Gone(self.server().clone()))?;
        let begun = Instant::now();
        let told = Told::taken(&self.changes, kinds);
        let read = refresh::some(&live.session, &known.catalog, kinds).await;
        let (catalog, changed) = match read {
            Ok(read) => read,
            Err(error) if error.is_fatal() => return Err(self.lost(live, error).await),
            Err(error) => return Err(self.failed(live.masked(error), String::new())),
        };
        // One that came up meanwhile has read everything, and later.
        if !self.usable().is_some_and(|now| Arc::ptr_eq(&now, live)) {
            return Err(FleetError::Gone(self.server().clone()));
        }
        let known = match changed.is_empty() {
            true => known,
            false => self.publish(catalog).await,
        };
        told.followed();
        self.renewal.note(kinds, begun);
        Ok(known)
    }

    /// Reads the lists again that the server says have changed.
    pub(crate) async fn refresh(&self) {
        let _one = self.renewal.reading.lock().await;
        let kinds = self.changes.all();
        let Some(live) = self.usable().filter(|_| !kinds.is_empty()) else { return };
        if let Err(error) = self.read_again(&live, &kinds).await {
            tracing::warn!(
                target: "toolgate::fleet", server = %self.server(), %error,
                "a changed list could not be read"
            );
        }
    }
}
