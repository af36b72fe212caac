//! Handles what a connection reports outside any call, and rereads lists after they changed.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;
use toolgate_model::{CapabilityKind, TokenBucket};
use toolgate_session::SessionEventHandler;
use toolgate_wire::Frame;

use crate::Pool;

/// How long change notifications are collected before the lists are read again.
const COALESCE: Duration = Duration::from_millis(100);
/// How many rereads a burst of change notifications may trigger.
const AT_ONCE: u32 = 20;
/// The interval between rereads after such a burst. Lists are read in any case before a capability
/// is called.
const PERIOD: Duration = Duration::from_secs(1);

/// Returns the earliest time of the next reread: when the rate allows it, but not before
/// [`COALESCE`] has passed.
fn next_reading(rate: &mut TokenBucket, now: Instant) -> Instant {
    Instant::from_std(rate.reserve(now.into_std())).max(now + COALESCE)
}

/// The kinds whose lists have changed. Shared with the task that rereads them, so that the task
/// does not keep the pool alive.
#[derive(Debug, Default)]
pub(crate) struct ListChanges {
    kinds: AtomicU8,
    wake: Notify,
}

impl ListChanges {
    fn note(&self, kind: CapabilityKind) {
        self.kinds.fetch_or(bit(kind), Ordering::AcqRel);
        self.wake.notify_one();
    }

    /// Returns true if a list has changed and was not read again yet.
    pub(crate) fn has(&self, kind: CapabilityKind) -> bool {
        self.kinds.load(Ordering::Acquire) & bit(kind) != 0
    }

    /// Clears the mark of a kind. Returns true if it was set.
    pub(crate) fn take(&self, kind: CapabilityKind) -> bool {
        self.kinds.fetch_and(!bit(kind), Ordering::AcqRel) & bit(kind) != 0
    }

    /// Sets the mark of a kind again after its reread failed, without waking the task.
    pub(crate) fn restore(&self, kind: CapabilityKind) {
        self.kinds.fetch_or(bit(kind), Ordering::AcqRel);
    }

    /// Returns all marked kinds.
    pub(crate) fn all(&self) -> Vec<CapabilityKind> {
        CapabilityKind::ALL.into_iter().filter(|kind| self.has(*kind)).collect()
    }

    /// Wakes the task for changes that the server announced during the handshake, when there was
    /// nothing to reread yet.
    pub(crate) fn resume(&self) {
        if self.kinds.load(Ordering::Acquire) != 0 {
            self.wake.notify_one();
        }
    }

    /// Wakes the task, which ends if the pool was dropped.
    pub(crate) fn stop(&self) {
        self.wake.notify_one();
    }
}

fn bit(kind: CapabilityKind) -> u8 {
    1 << kind as u8
}

/// Rereads lists after they changed: once per burst of notifications, and at a limited rate if the
/// notifications do not stop.
pub(crate) async fn reread_changed_lists(pool: Weak<Pool>, changes: Arc<ListChanges>) {
    let mut rate = TokenBucket::full(AT_ONCE, PERIOD, Instant::now().into_std());
    loop {
        changes.wake.notified().await;
        if pool.strong_count() == 0 {
            return;
        }
        tokio::time::sleep_until(next_reading(&mut rate, Instant::now())).await;
        match pool.upgrade() {
            Some(pool) => pool.refresh_changed().await,
            None => return,
        }
    }
}

/// Forwards session events to a pool without keeping it alive.
pub(crate) struct PoolEventHandler {
    pub(crate) pool: Weak<Pool>,
    pub(crate) changes: Arc<ListChanges>,
}

impl SessionEventHandler for PoolEventHandler {
    fn on_list_changed(&self, kind: CapabilityKind) {
        self.changes.note(kind);
    }

    fn on_notification(&self, frame: Frame) {
        if let Some(pool) = self.pool.upgrade() {
            pool.announce_notification(frame);
        }
    }

    fn on_declined(&self, why: &str) {
        if let Some(pool) = self.pool.upgrade() {
            pool.log_declined(why);
        }
    }

    fn on_ended(&self, reason: &str) {
        if let Some(pool) = self.pool.upgrade() {
            pool.handle_connection_end(reason);
        }
    }
}

/// Ignores all events, for a connection that is only tested.
pub(crate) struct NullEventHandler;

impl SessionEventHandler for NullEventHandler {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storm_without_end_is_followed_now_and_then() {
        let start = Instant::now();
        let mut rate = TokenBucket::full(AT_ONCE, PERIOD, start.into_std());
        let (mut now, mut readings) = (start, 0);
        while now < start + PERIOD * 100 {
            now = next_reading(&mut rate, now);
            readings += 1;
        }
        assert!((AT_ONCE + 90..=AT_ONCE + 102).contains(&readings), "{readings}");
        // After a while without changes everything is as it was.
        let later = now + PERIOD * AT_ONCE;
        assert!((0..AT_ONCE).all(|_| next_reading(&mut rate, later) == later + COALESCE));
        assert!(next_reading(&mut rate, later) > later + COALESCE);
    }
}
