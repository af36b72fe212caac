//! Where decisions are kept: the store of pins, grants and approvals, and the journal.
//!
//! Views are made without waiting, so what they find out (a first sight, a drift) is written down by
//! one errand after the other, beside everything else. Nothing here decides anything.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use toolgate_model::CapabilityId;
use toolgate_store::journal::{Event, Record};
use toolgate_store::{Decisions, Journal, Keyring, Pin, StoreError, Which};

use crate::Gate;
use crate::approvals::Broker;

/// How often to look whether another process has pinned something.
const LOOK: Duration = Duration::from_secs(1);
/// Of so many tries in vain to write something, one is told.
const TOLD: u32 = 60;
/// How long the end of a gate waits for what is still to be written.
const PATIENCE: Duration = Duration::from_secs(5);

/// Something to be written into the store.
pub(crate) enum Errand {
    /// Pins of what was seen for the first time.
    Pin(Vec<Pin>),
    /// Grants for a capability that is not what it was.
    Revoke(CapabilityId),
    /// Says when everything before it is done.
    Done(oneshot::Sender<()>),
}

/// The books of a gate.
pub(crate) struct Books {
    pub(crate) decisions: Arc<dyn Decisions>,
    pub(crate) broker: Arc<Broker>,
    keys: Arc<Keyring>,
    pub(crate) journal: Option<Arc<Journal>>,
    errands: mpsc::UnboundedSender<Errand>,
}

impl Books {
    async fn open(
        decisions: Arc<dyn Decisions>,
        journal: Option<Arc<Journal>>,
    ) -> Result<Self, StoreError> {
        let broker = Broker::load(decisions.clone()).await?;
        let keys = Keyring::load(decisions.clone()).await?;
        journal.iter().for_each(|journal| broker.record_in(journal.clone()));
        let (errands, waiting) = mpsc::unbounded_channel();
        tokio::spawn(run(broker.clone(), decisions.clone(), waiting));
        Ok(Self { decisions, broker, keys, journal, errands })
    }

    /// Whether anybody outside this process can look into them: those without a journal are kept in
    /// memory.
    pub(crate) fn is_attended(&self) -> bool {
        self.journal.is_some()
    }

    /// Has something written down.
    pub(crate) fn send(&self, errand: Errand) {
        let _ = self.errands.send(errand); // its taker ends with the runtime
    }

    /// Waits until everything so far is written down.
    pub(crate) async fn settled(&self) {
        let (done, told) = oneshot::channel();
        self.send(Errand::Done(done));
        let _ = told.await;
    }
}

async fn run(
    broker: Arc<Broker>,
    decisions: Arc<dyn Decisions>,
    mut waiting: mpsc::UnboundedReceiver<Errand>,
) {
    while let Some(errand) = waiting.recv().await {
        let (mut pins, mut revoked) = (Vec::new(), None);
        match errand {
            Errand::Pin(new) => pins = new,
            Errand::Revoke(id) => revoked = Some(Which::Tool(id)),
            Errand::Done(told) => drop(told.send(())),
        }
        for tries in 0_u32.. {
            let done = match &revoked {
                Some(which) => broker.revoke(which, "a changed definition").await.map(drop),
                None if pins.is_empty() => break,
                None => decisions.pin(&pins).await,
            };
            match done {
                Ok(()) => break,
                Err(error) if tries.is_multiple_of(TOLD) => {
                    tracing::error!(target: "toolgate::gate", "failed to {error}; it is tried again");
                }
                Err(_) => {}
            }
            // A store that has not heard of it says what does not hold, so it is never given up, but
            // by a gate that is gone.
            if waiting.is_closed() && waiting.is_empty() {
                return;
            }
            tokio::time::sleep(LOOK).await; // a database may be locked for a while
        }
    }
}

/// Takes over what another process pins or forgets.
async fn follow(gate: Weak<Gate>, mut seen: u64) {
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(gate) = gate.upgrade() else { return };
        let Some(books) = gate.books.get() else { return };
        let reloaded = match books.decisions.changes().await {
            Ok(now) if now == seen => continue,
            Ok(now) => gate.reload_pins().await.map(|()| seen = now),
            Err(error) => Err(error),
        };
        if let Err(error) = reloaded {
            tracing::warn!(target: "toolgate::gate", "failed to {error}");
        }
    }
}

impl Gate {
    /// Keeps pins, grants and approvals in this store and writes this journal, from now on. To be
    /// called before there are servers: what is pinned must be known when they are first seen.
    pub async fn keep_books(
        &self,
        decisions: Arc<dyn Decisions>,
        journal: Option<Arc<Journal>>,
    ) -> Result<(), StoreError> {
        let seen = decisions.changes().await?;
        self.pinned.load(decisions.pinned().await?);
        let _ = self.books.set(Books::open(decisions, journal).await?);
        tokio::spawn(follow(self.me.clone(), seen));
        self.fleet.renew();
        Ok(())
    }

    /// Writes everything down that is still under way, and ends the journal.
    pub async fn close_books(&self) -> Result<(), StoreError> {
        let Some(books) = self.books.get() else { return Ok(()) };
        let _ = tokio::time::timeout(PATIENCE, books.settled()).await;
        match &books.journal {
            Some(journal) => journal.close().await,
            None => Ok(()),
        }
    }

    /// The keys of callers over HTTP, where books are kept.
    pub fn keys(&self) -> Option<&Arc<Keyring>> {
        Some(&self.books.get()?.keys)
    }

    pub(crate) fn journal(&self) -> Option<&Journal> {
        self.books.get()?.journal.as_deref()
    }

    /// A number for the next call in the journal.
    pub(crate) fn next_call(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Notes something in the journal that is no call. One that cannot be written now says so itself.
    pub fn note(&self, kind: &str, about: Option<&CapabilityId>, detail: &str) {
        let Some(journal) = self.journal() else { return };
        let event = Event::Noted { kind, detail };
        let record = Record { event, call: 0, caller: "", client: "", profile: "", about };
        if let Err(error) = journal.append(&record) {
            tracing::error!(target: "toolgate::gate", kind, "not noted: failed to {error}");
        }
    }
}
