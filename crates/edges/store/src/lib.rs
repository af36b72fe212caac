//! What must survive a restart: consents and trust, the last known catalog of each server, its era,
//! and how often one was tried of which nothing is known.
//!
//! One trait, [`State`]; SQLite behind it now, another engine later with the same queries. What was
//! acknowledged is on disk. Nothing here decides anything: a consent is only remembered.
//!
//! Beside it, what must not be held in memory: [`Results`] that are kept aside while the process
//! lives.

mod attempts;
mod bound;
mod catalogs;
mod charges;
mod consents;
pub mod context;
mod deciding;
mod decisions;
mod eras;
mod error;
mod grants;
pub mod journal;
mod keyring;
mod keys;
mod opening;
mod passphrase;
mod pending;
mod pins;
mod private;
mod results;
mod sqlite;
mod state;
mod trusts;

pub use bound::fresh_id;
pub use decisions::{
    Bound, Charge, Choice, Decisions, Grant, Kept, PendingCall, Pin, Pinned, Room, Settled,
    Verdict, Which,
};
pub use error::StoreError;
pub use journal::Journal;
pub use keyring::{KEY_PREFIX, KeyError, Keyring};
pub use keys::AccessKey;
pub use passphrase::Passphrase;
pub use private::open_plain;
pub use results::{Draft, FileResults, KeptResult, Quota, Results, Section};
pub use sqlite::SqliteState;
pub use state::{Answer, Consent, ConsentSet, FoundEra, SavedCatalog, State, Trust};
