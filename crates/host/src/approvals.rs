//! Approvals for whoever shows them to a person: what waits, what is granted, and how to settle it.
//!
//! A living host has its broker ([`Host::approvals`](crate::Host::approvals)); where none runs, what
//! waits in a home can be settled all the same ([`open`]).

use std::sync::Arc;

use toolgate_config::Home;
use toolgate_store::journal::{Event, Record};
use toolgate_store::{Journal, Keyring, SqliteState};

use crate::{Host, HostError};

pub use toolgate_gate::approvals::{Approver, Broker, Registered, shown_params};
pub use toolgate_model::Digest;
pub use toolgate_store::{
    Bound, Choice, Grant, PendingCall, Settled, StoreError as ApprovalError, Verdict, Which,
};

impl Host {
    /// What waits for approval and what is granted.
    pub fn approvals(&self) -> Option<&Arc<Broker>> {
        self.gate().approvals()
    }
}

/// What a home remembers of approvals, without anything that could call.
pub struct Remembered {
    /// The one port for all who answer.
    pub broker: Arc<Broker>,
    /// The keys of callers over HTTP.
    pub keys: Arc<Keyring>,
    journal: Arc<Journal>,
}

impl Remembered {
    /// Notes something in the journal that is no call.
    pub fn note(&self, kind: &str, detail: &str) {
        let event = Event::Noted { kind, detail };
        let record = Record { event, call: 0, caller: "", client: "", profile: "", about: None };
        if let Err(error) = self.journal.append(&record) {
            tracing::error!(target: "toolgate::gate", kind, "not noted: failed to {error}");
        }
    }

    /// Ends the journal that was written to, if it was.
    pub async fn close(&self) -> Result<(), HostError> {
        Ok(self.journal.close().await?)
    }
}

/// Opens what a home remembers. What is decided is on record there as anywhere.
pub async fn open(home: &Home) -> Result<Remembered, HostError> {
    home.create()?;
    let state = Arc::new(SqliteState::open(home.state_db()).await?);
    let keys = Keyring::load(state.clone()).await?;
    let broker = Broker::load(state).await?;
    let journal = Arc::new(Journal::new(home.state_dir().join("journal")));
    broker.record_in(journal.clone());
    Ok(Remembered { broker, keys, journal })
}
