//! What must survive a restart: consents and trust, the last known catalog of each server, and its
//! era.
//!
//! One trait, [`State`]; SQLite behind it now, another engine later with the same queries. What was
//! acknowledged is on disk. Nothing here decides anything: a consent is only remembered.

mod catalogs;
mod consents;
mod eras;
mod error;
mod private;
mod sqlite;
mod state;
mod trusts;

pub use error::StoreError;
pub use sqlite::SqliteState;
pub use state::{Answer, Consent, ConsentSet, FoundEra, SavedCatalog, State, Trust};
