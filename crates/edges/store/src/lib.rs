//! Stores the state that must survive a restart: consents, trust, decisions, access keys, and
//! for each server its last known catalog, its era and the number of attempts to start it.
//!
//! The [`StateStore`] is one SQLite file. An acknowledged write is on disk. This crate makes no
//! decisions: it only stores them.
//!
//! A [`ResultStore`] keeps large results out of memory, but only while the process runs.

mod approvals;
mod catalogs;
mod charges;
mod columns;
mod consents;
mod declarations;
mod error;
mod grants;
mod keyring;
mod keys;
mod passphrase;
mod pending;
mod pins;
mod private_files;
mod results;
mod sqlite;
pub mod sqlite_file;

pub use approvals::{
    ApprovalBinding, ApprovalChoice, ApprovalDecision, Grant, GrantSelector, KeepPendingOutcome,
    PendingCall, PendingLimits, SettledCall,
};
pub use catalogs::SavedCatalog;
pub use charges::SamplingCharge;
pub use columns::generate_id;
pub use consents::{Consent, ConsentSet, ServerTrust};
pub use declarations::DetectedEra;
pub use error::StoreError;
pub use keyring::{AccessKeyError, AccessKeyring, KEY_PREFIX};
pub use keys::AccessKey;
pub use passphrase::OperatorPassphraseFile;
pub use pins::{Pin, PinMetadata};
pub use private_files::{ensure_file, open_regular_file};
pub use results::{KeptResult, KeptResultWriter, ResultQuota, ResultSection, ResultStore};
pub use sqlite::{StateStore, now_millis};
