//! Taint: whether a principal has read content of an untrusted server.
//!
//! Such content may try to make a model do something else. For an hour after the last such answer,
//! tools that send data out or destroy something need approval. The content itself is not
//! inspected, because harmful content cannot be recognized.
//!
//! Taint applies to the principal (the local user, or a key) and not to a session, because content
//! read in one session may act in the next. A gate serves one project, so taint applies to this
//! project only. It is not stored: a restarted gateway starts without taint.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::{Caller, Gate};

/// How long taint lasts.
const LASTS: Duration = Duration::from_secs(60 * 60);
/// The number of principals above which untainted ones are dropped.
const REMEMBERED: usize = 1024;

/// The end of a principal's taint, in milliseconds since `began`; 0 if it is not tainted.
#[derive(Debug)]
pub(crate) struct Taint {
    began: Instant,
    until: AtomicU64,
}

impl Taint {
    fn new() -> Self {
        Self { began: Instant::now(), until: AtomicU64::new(0) }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Taints the principal.
    pub(crate) fn raise(&self) {
        let until = self.now().saturating_add(LASTS.as_millis() as u64);
        self.until.store(until, Ordering::Release);
    }

    /// Returns true if the principal is tainted.
    pub(crate) fn is_raised(&self) -> bool {
        match self.until.load(Ordering::Acquire) {
            0 => false,
            until => self.now() < until,
        }
    }

    fn clear(&self) -> bool {
        let was_raised = self.is_raised();
        self.until.store(0, Ordering::Release);
        was_raised
    }
}

/// The taint of every principal, by the name used for approvals.
#[derive(Debug, Default)]
pub(crate) struct TaintTable(Mutex<HashMap<Arc<str>, Arc<Taint>>>);

impl TaintTable {
    fn of(&self, person: &Arc<str>) -> Arc<Taint> {
        let mut table = self.0.lock();
        if table.len() >= REMEMBERED {
            table.retain(|_, taint| taint.is_raised() || Arc::strong_count(taint) > 1);
        }
        table.entry(person.clone()).or_insert_with(|| Arc::new(Taint::new())).clone()
    }
}

impl Gate {
    /// Returns the taint of the caller's principal. The lookup is cached in the caller.
    pub(crate) fn taint<'a>(&self, caller: &'a Caller) -> &'a Taint {
        caller.taint.get_or_init(|| self.taints.of(&caller.person))
    }

    /// Clears the taint of this principal, or of every principal, and returns the names of those
    /// that were tainted.
    pub fn clear_taint(&self, person: Option<&str>) -> Vec<String> {
        let table = self.taints.0.lock();
        let meant = table.iter().filter(|(name, _)| person.is_none_or(|person| person == &***name));
        let mut cleared: Vec<_> =
            meant.filter(|(_, taint)| taint.clear()).map(|(name, _)| name.to_string()).collect();
        cleared.sort_unstable();
        cleared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn taint_lasts_an_hour_after_the_last_untrusted_answer_or_until_it_is_cleared() {
        let taints = TaintTable::default();
        let local = taints.of(&"local".into());
        assert!(!local.is_raised());
        local.raise();
        tokio::time::advance(LASTS - Duration::from_secs(1)).await;
        assert!(taints.of(&"local".into()).is_raised(), "it is the same in the next session");
        local.raise();
        tokio::time::advance(LASTS - Duration::from_secs(1)).await;
        assert!(local.is_raised());
        tokio::time::advance(Duration::from_secs(2)).await;
        assert!(!local.is_raised());
        local.raise();
        assert!(local.clear() && !local.is_raised() && !local.clear());
    }
}
