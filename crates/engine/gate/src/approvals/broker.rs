//! The broker: what is granted, what waits, and the one place where something is settled.

use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use tokio::sync::{Mutex, watch};
use toolgate_model::Digest;
use toolgate_store::{
    Bound, Choice, Decisions, Grant, Journal, PendingCall, Settled, StoreError, Verdict, Which,
};

use super::approver::{Approver, Approvers, Registered};
use super::rate::Rate;
use super::record;
use super::standing::{BoundRef, Granted, Standing};
use super::waiting::Table;

/// How often to look whether another process has decided something. Commands reach a gateway that
/// lives through its control socket; this is for those that cannot.
const LOOK: Duration = Duration::from_secs(1);

/// The one port for all who ask and all who answer.
pub struct Broker {
    pub(super) store: Arc<dyn Decisions>,
    standing: ArcSwap<Standing>,
    pub(super) table: Table,
    pub(super) approvers: Approvers,
    pub(super) rate: Rate,
    /// Whoever keeps a row or takes one back does it alone, so that nobody waits for a row that is
    /// being taken back.
    pub(super) enrolling: Mutex<()>,
    /// Grants are read and taken over by one at a time: what was read later is what counts later.
    refreshing: Mutex<()>,
    version: watch::Sender<u64>,
    journal: OnceLock<Arc<Journal>>,
    pub(super) me: Weak<Self>,
}

impl Broker {
    /// A broker over what was decided before. As long as it lives it follows what others decide.
    pub async fn load(store: Arc<dyn Decisions>) -> Result<Arc<Self>, StoreError> {
        let seen = store.changes().await?;
        let standing = store.grants().await?.into_iter().collect::<Standing>();
        let broker = Arc::new_cyclic(|me| Self {
            store,
            standing: ArcSwap::from_pointee(standing),
            table: Table::default(),
            approvers: Approvers::default(),
            rate: Rate::default(),
            enrolling: Mutex::default(),
            refreshing: Mutex::default(),
            version: watch::Sender::new(0),
            journal: OnceLock::new(),
            me: me.clone(),
        });
        tokio::spawn(follow(Arc::downgrade(&broker), seen));
        Ok(broker)
    }

    /// Has what people decide while nobody waits for it written into this journal. To be said once.
    pub fn record_in(&self, journal: Arc<Journal>) {
        let _ = self.journal.set(journal);
    }

    /// The grant for good that covers a call, if there is one. A grant for a whole server covers
    /// the tools whose definitions were pinned before it was given: `pinned_at` is as the store has
    /// it.
    pub fn granted<'a>(
        &self,
        bound: impl Into<BoundRef<'a>>,
        pinned_at: Option<SystemTime>,
    ) -> Option<Granted> {
        self.standing.load().granted(bound.into(), pinned_at)
    }

    /// Uses up a one-time grant for exactly this call, exactly once, and says which. Costs nothing
    /// where there is none.
    pub async fn spend(
        &self,
        bound: &Bound,
        arguments: &Digest,
    ) -> Result<Option<String>, StoreError> {
        match self.standing.load().knows_of_one(bound, arguments) {
            true => self.spend_stored(bound, arguments).await,
            false => Ok(None),
        }
    }

    /// The same, whatever is known here: another process may have approved the call just now.
    pub(super) async fn spend_stored(
        &self,
        bound: &Bound,
        arguments: &Digest,
    ) -> Result<Option<String>, StoreError> {
        let spent = self.store.spend(bound, arguments).await?;
        if spent.is_some() {
            self.refresh().await;
        }
        Ok(spent)
    }

    /// The calls that wait for a decision, oldest first.
    pub async fn list(&self) -> Result<Vec<PendingCall>, StoreError> {
        self.store.pending().await
    }

    /// One of them.
    pub async fn show(&self, id: &str) -> Result<Option<PendingCall>, StoreError> {
        Ok(self.list().await?.into_iter().find(|call| call.id == id))
    }

    /// Decides about a call that waits, exactly once: `None` if there is none of this id, it is
    /// expired, or it was decided before. Whoever waits for it goes on at once.
    pub async fn settle(
        &self,
        id: &str,
        choice: Choice,
        by: &str,
    ) -> Result<Option<Settled>, StoreError> {
        let Some(settled) = self.store.settle(id, choice, by).await? else { return Ok(None) };
        self.refresh().await;
        if let Some(journal) = self.journal.get().filter(|_| !self.table.has(id)) {
            record::settled(journal, &settled, by).await;
        }
        self.table.decide(id, Verdict { choice, by: by.to_owned() });
        Ok(Some(settled))
    }

    /// What was decided about a call, as long as that is remembered.
    pub async fn verdict(&self, id: &str) -> Result<Option<Verdict>, StoreError> {
        self.store.verdict(id).await
    }

    /// The grants that hold, newest first.
    pub async fn grants(&self) -> Result<Vec<Grant>, StoreError> {
        self.store.grants().await
    }

    /// Takes grants back, and says how many. From then on they cover nothing.
    pub async fn revoke(&self, which: &Which, by: &str) -> Result<u64, StoreError> {
        let revoked = self.store.revoke_grants(which).await?;
        self.refresh().await;
        if let Some(journal) = self.journal.get().filter(|_| revoked > 0) {
            record::revoked(journal, which, revoked, by).await;
        }
        Ok(revoked)
    }

    /// A number that changes whenever there is something new to list.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    /// Has a face asked directly about every call the operator is asked about, as long as what is
    /// given back lives.
    pub fn register(&self, approver: Arc<dyn Approver>) -> Registered {
        self.approvers.register(approver)
    }

    /// Another process has changed something, or may have: takes it over now.
    pub async fn renew(&self) {
        self.refresh().await;
        for id in self.table.ids() {
            match self.store.verdict(&id).await {
                Ok(Some(verdict)) => self.table.decide(&id, verdict),
                Ok(None) => {}
                Err(error) => unreadable(&error),
            }
        }
    }

    /// Reads the grants anew. Where that fails nothing is granted until it succeeds: what was
    /// revoked must not hold because a disk is full.
    async fn refresh(&self) {
        let _alone = self.refreshing.lock().await;
        let standing = match self.store.grants().await {
            Ok(grants) => grants.into_iter().collect(),
            Err(error) => {
                unreadable(&error);
                Standing::unknown()
            }
        };
        self.standing.store(Arc::new(standing));
        self.changed();
    }

    pub(super) fn changed(&self) {
        self.version.send_modify(|version| *version = version.wrapping_add(1));
    }

    /// Looks whether somebody else has changed something; what it saw then.
    async fn look(&self, seen: u64) -> u64 {
        let stale = self.standing.load().is_unknown();
        match self.store.changes().await {
            Ok(now) if now != seen || stale => {
                self.renew().await;
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

async fn follow(broker: Weak<Broker>, mut seen: u64) {
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(broker) = broker.upgrade() else { return };
        seen = broker.look(seen).await;
    }
}

fn unreadable(error: &StoreError) {
    tracing::warn!(target: "toolgate::gate", "failed to {error}");
}
