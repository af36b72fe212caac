//! Approvals: pending calls, grants, and how to settle them.
//!
//! A running host has a broker ([`Gate::approvals`](crate::Gate::approvals)). Without a running
//! host, [`open`] gives access to the pending calls of a home.

use std::sync::Arc;

use toolgate_config::Home;
use toolgate_journal::{Journal, JournalRecord};
use toolgate_store::{AccessKeyring, StateStore};

use crate::HostError;

pub use toolgate_gate::approvals::{ApprovalBroker, shown_params};
pub use toolgate_model::Digest;
pub use toolgate_store::{
    ApprovalBinding, ApprovalChoice, ApprovalDecision, Grant, GrantSelector, PendingCall,
    SettledCall, StoreError as ApprovalError,
};

/// The stored approvals of a home, without servers.
pub struct StoredApprovals {
    /// The broker of pending calls and grants.
    pub broker: Arc<ApprovalBroker>,
    /// The access keys of HTTP clients.
    pub keys: Arc<AccessKeyring>,
    journal: Arc<Journal>,
}

impl StoredApprovals {
    /// Writes an entry to the journal that is not about a call.
    pub fn note(&self, kind: &str, detail: &str) {
        if let Err(error) = self.journal.append(&JournalRecord::note(kind, detail, None)) {
            tracing::error!(target: "toolgate::gate", kind, "cannot write the journal: {error}");
        }
    }

    /// Closes the journal.
    pub async fn close(&self) -> Result<(), HostError> {
        Ok(self.journal.close().await?)
    }
}

/// Opens the stored approvals of a home. Decisions made here are written to its journal.
pub async fn open(home: &Home) -> Result<StoredApprovals, HostError> {
    home.create()?;
    let state = Arc::new(StateStore::open(home.state_db()).await?);
    let keys = AccessKeyring::load(state.clone()).await?;
    let journal = Arc::new(Journal::new(home.state_dir().join("journal")));
    let broker = ApprovalBroker::load(state, Some(journal.clone())).await?;
    Ok(StoredApprovals { broker, keys, journal })
}
