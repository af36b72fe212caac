//! The broker: holds the grants and the pending calls, and is the only place that decides one.

use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use tokio::sync::{Mutex, watch};
use toolgate_journal::Journal;
use toolgate_model::Digest;
use toolgate_store::{
    ApprovalBinding, ApprovalChoice, ApprovalDecision, Grant, GrantSelector, PendingCall,
    SettledCall, StateStore, StoreError,
};

use super::grant_index::{ApprovalBindingRef, GrantIndex};
use super::journaling;
use super::rate_limit::ApprovalRateLimit;
use super::waiters::WaiterTable;

/// How often to check whether another process decided something. Commands reach a running gateway
/// through its control socket; this check covers those that cannot.
const LOOK: Duration = Duration::from_secs(1);

/// Finds grants, obtains approvals and decides pending calls.
pub struct ApprovalBroker {
    pub(super) store: Arc<StateStore>,
    grant_index: ArcSwap<GrantIndex>,
    pub(super) waiters: WaiterTable,
    pub(super) rate_limit: ApprovalRateLimit,
    /// Held while a row is stored or withdrawn, so that no call waits for a row that is being
    /// withdrawn.
    pub(super) enqueue_lock: Mutex<()>,
    /// Held while grants are read and stored, so that a later read replaces an earlier one.
    refresh_lock: Mutex<()>,
    version: watch::Sender<u64>,
    /// Records decisions that no call waits for.
    journal: Option<Arc<Journal>>,
    pub(super) me: Weak<Self>,
}

impl ApprovalBroker {
    /// Loads a broker from the store. While it lives, it follows what other processes decide.
    pub async fn load(
        store: Arc<StateStore>,
        journal: Option<Arc<Journal>>,
    ) -> Result<Arc<Self>, StoreError> {
        let seen = store.change_counter().await?;
        let standing = store.grants().await?.into_iter().collect::<GrantIndex>();
        let broker = Arc::new_cyclic(|me| Self {
            store,
            grant_index: ArcSwap::from_pointee(standing),
            waiters: WaiterTable::default(),
            rate_limit: ApprovalRateLimit::default(),
            enqueue_lock: Mutex::default(),
            refresh_lock: Mutex::default(),
            version: watch::Sender::new(0),
            journal,
            me: me.clone(),
        });
        tokio::spawn(follow(Arc::downgrade(&broker), seen));
        Ok(broker)
    }

    /// Returns the description of the lasting grant that covers a call, if there is one. A grant for a whole server
    /// covers the tools whose definitions were pinned before the grant was given; `pinned_at` is
    /// the time in the store.
    pub fn find_grant<'a>(
        &self,
        bound: impl Into<ApprovalBindingRef<'a>>,
        pinned_at: Option<SystemTime>,
    ) -> Option<Arc<str>> {
        self.grant_index.load().find(bound.into(), pinned_at)
    }

    /// Uses up a one-time grant for exactly this call and returns its id. Always asks the store:
    /// another process may just have approved the call.
    pub async fn spend(
        &self,
        bound: &ApprovalBinding,
        arguments: &Digest,
    ) -> Result<Option<String>, StoreError> {
        let spent = self.store.consume_once_grant(bound, arguments).await?;
        if spent.is_some() {
            self.refresh().await;
        }
        Ok(spent)
    }

    /// Returns the pending calls, oldest first.
    pub async fn list(&self) -> Result<Vec<PendingCall>, StoreError> {
        self.store.pending_calls().await
    }

    /// Decides a pending call, exactly once. Returns `None` if no call has this id, or if it
    /// expired or was decided before. Calls that wait for the decision continue at once.
    pub async fn settle(
        &self,
        id: &str,
        choice: ApprovalChoice,
        by: &str,
    ) -> Result<Option<SettledCall>, StoreError> {
        let Some(settled) = self.store.decide_pending(id, choice, by).await? else {
            return Ok(None);
        };
        self.refresh().await;
        if let Some(journal) = self.journal.as_ref().filter(|_| !self.waiters.has(id)) {
            journaling::record_settled(journal, &settled, by).await;
        }
        self.waiters.decide(id, ApprovalDecision { choice, by: by.to_owned() });
        Ok(Some(settled))
    }

    /// Returns the decision about a call while the store still has it.
    pub async fn verdict(&self, id: &str) -> Result<Option<ApprovalDecision>, StoreError> {
        self.store.approval_decision(id).await
    }

    /// Returns the valid grants, newest first.
    pub async fn grants(&self) -> Result<Vec<Grant>, StoreError> {
        self.store.grants().await
    }

    /// Revokes grants and returns how many.
    pub async fn revoke(&self, which: &GrantSelector, by: &str) -> Result<u64, StoreError> {
        let revoked = self.store.revoke_grants(which).await?;
        self.refresh().await;
        if let Some(journal) = self.journal.as_ref().filter(|_| revoked > 0) {
            journaling::record_revoked(journal, which, revoked, by).await;
        }
        Ok(revoked)
    }

    /// Returns a number that changes whenever the list of pending calls or grants changes.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    /// Loads what another process may have changed.
    pub async fn reload(&self) {
        self.refresh().await;
        for id in self.waiters.ids() {
            match self.store.approval_decision(&id).await {
                Ok(Some(verdict)) => self.waiters.decide(&id, verdict),
                Ok(None) => {}
                Err(error) => unreadable(&error),
            }
        }
    }

    /// Reads the grants again. If that fails, no grant is valid until a read succeeds: a revoked
    /// grant must not stay valid because a disk is full.
    async fn refresh(&self) {
        let _alone = self.refresh_lock.lock().await;
        let standing = match self.store.grants().await {
            Ok(grants) => grants.into_iter().collect(),
            Err(error) => {
                unreadable(&error);
                GrantIndex::unknown()
            }
        };
        self.grant_index.store(Arc::new(standing));
        self.notify_changed();
    }

    pub(super) fn notify_changed(&self) {
        self.version.send_modify(|version| *version = version.wrapping_add(1));
    }

    /// Loads changes of other processes, if there are any, and returns the change counter.
    async fn poll_changes(&self, seen: u64) -> u64 {
        let stale = self.grant_index.load().is_unknown;
        match self.store.change_counter().await {
            Ok(now) if now != seen || stale => {
                self.reload().await;
                now
            }
            Ok(_) => seen,
            Err(error) => {
                unreadable(&error);
                seen
            }
        }
    }
}

async fn follow(broker: Weak<ApprovalBroker>, mut seen: u64) {
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(broker) = broker.upgrade() else { return };
        seen = broker.poll_changes(seen).await;
    }
}

fn unreadable(error: &StoreError) {
    tracing::warn!(target: "toolgate::gate", "cannot read approvals: {error}");
}
