//! Stores the state that must survive a restart: consents, trust, decisions, access keys, the
//! journal, and for each server its last known catalog, its era and the number
//! of attempts to start it.
//!
//! The traits [`StateStore`] and [`DecisionStore`] have SQLite behind them. An acknowledged write
//! is on disk. This crate makes no decisions: it only stores them.
//!
//! A [`ResultStore`] keeps large results out of memory, but only while the process runs.

mod attempts;
mod binding;
mod catalogs;
mod charges;
mod consents;
mod decision_store;
mod eras;
mod error;
mod grants;
pub mod journal;
mod keyring;
mod keys;
mod passphrase;
mod pending;
mod pins;
mod private_files;
mod results;
mod sqlite;
mod sqlite_decisions;
pub mod sqlite_file;
mod state_store;
mod trusts;

pub use binding::generate_id;
pub use decision_store::{
    ApprovalBinding, ApprovalChoice, ApprovalDecision, DecisionStore, Grant, GrantSelector,
    KeepPendingOutcome, PendingCall, PendingLimits, Pin, PinSummary, SamplingCharge, SettledCall,
};
pub use error::StoreError;
pub use journal::Journal;
pub use keyring::{AccessKeyError, KEY_PREFIX, Keyring};
pub use keys::AccessKey;
pub use passphrase::PassphraseFile;
pub use private_files::{ensure_file, open_regular_file};
pub use results::{
    FileResultStore, KeptResult, ResultQuota, ResultSection, ResultStore, ResultWriter,
};
pub use sqlite::{SqliteStore, now_millis};
pub use state_store::{
    Consent, ConsentSet, DetectedEra, SavedCatalog, ServerTrust, StateStore, StoreFuture,
};
