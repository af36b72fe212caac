//! What a connection reports outside any call, and lists that are read again after they changed.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;
use toolgate_model::{CapabilityKind, TokenBucket};
use toolgate_session::Owner;
use toolgate_wire::Frame;

use crate::Pool;

/// How long changes of a list are gathered before it is read again.
const COALESCE: Duration = Duration::from_millis(100);
/// How often lists are read again at once because a server says that they changed,
const AT_ONCE: u32 = 20;
/// and how long it then takes until they are read once more. Before anything of them is called they
/// are read in any case.
const PERIOD: Duration = Duration::from_secs(1);

/// When a reading may begin: as soon as the rate allows, and not before changes were gathered.
fn next_reading(rate: &mut TokenBucket, now: Instant) -> Instant {
    Instant::from_std(rate.reserve(now.into_std())).max(now + COALESCE)
}

/// The kinds whose lists have changed. Shared with the task that reads them again, so that it need
/// not keep the pool alive.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    kinds: AtomicU8,
    wake: Notify,
}

impl Changes {
    fn note(&self, kind: CapabilityKind) {
        self.kinds.fetch_or(bit(kind), Ordering::AcqRel);
        self.wake.notify_one();
    }

    /// Whether a list is known to have changed and was not read again yet.
    pub(crate) fn has(&self, kind: CapabilityKind) -> bool {
        self.kinds.load(Ordering::Acquire) & bit(kind) != 0
    }

    /// Whether it is; from now on it is not, until it is noted again.
    pub(crate) fn take(&self, kind: CapabilityKind) -> bool {
        self.kinds.fetch_and(!bit(kind), Ordering::AcqRel) & bit(kind) != 0
    }

    /// Notes what was taken and came to nothing; nobody is woken for it.
    pub(crate) fn restore(&self, kind: CapabilityKind) {
        self.kinds.fetch_or(bit(kind), Ordering::AcqRel);
    }

    /// The kinds that are noted.
    pub(crate) fn all(&self) -> Vec<CapabilityKind> {
        CapabilityKind::ALL.into_iter().filter(|kind| self.has(*kind)).collect()
    }

    /// Wakes the task for a change that the server announced while it was brought up: then there was
    /// nothing to read yet.
    pub(crate) fn resume(&self) {
        if self.kinds.load(Ordering::Acquire) != 0 {
            self.wake.notify_one();
        }
    }

    /// Wakes the task, which ends if the pool is gone.
    pub(crate) fn stop(&self) {
        self.wake.notify_one();
    }
}

fn bit(kind: CapabilityKind) -> u8 {
    1 << kind as u8
}

/// Reads lists again after they changed: once per storm, and now and then if it does not end.
pub(crate) async fn follow(pool: Weak<Pool>, changes: Arc<Changes>) {
    let mut rate = TokenBucket::full(AT_ONCE, PERIOD, Instant::now().into_std());
    loop {
        changes.wake.notified().await;
        if pool.strong_count() == 0 {
            return;
        }
        tokio::time::sleep_until(next_reading(&mut rate, Instant::now())).await;
        match pool.upgrade() {
            Some(pool) => pool.refresh().await,
            None => return,
        }
    }
}

/// The session's owner, without keeping the pool alive.
pub(crate) struct Watcher {
    pub(crate) pool: Weak<Pool>,
    pub(crate) changes: Arc<Changes>,
}

impl Owner for Watcher {
    fn list_changed(&self, kind: CapabilityKind) {
        self.changes.note(kind);
    }

    fn notified(&self, frame: Frame) {
        if let Some(pool) = self.pool.upgrade() {
            pool.notified(frame);
        }
    }

    fn declined(&self, why: &str) {
        if let Some(pool) = self.pool.upgrade() {
            pool.declined(why);
        }
    }

    fn ended(&self, reason: &str) {
        if let Some(pool) = self.pool.upgrade() {
            pool.ended(reason);
        }
    }
}

/// The owner of a connection that is only looked at.
pub(crate) struct Deaf;

impl Owner for Deaf {
    fn list_changed(&self, _kind: CapabilityKind) {}
    fn notified(&self, _frame: Frame) {}
    fn ended(&self, _reason: &str) {}
}

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
