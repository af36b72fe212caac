//! The journal for whoever reads it: what was decided and done, and the proof that nobody changed it.
//!
//! Everything here reads files and nothing else; no gateway is needed, and none is disturbed.

pub use toolgate_store::StoreError as AuditError;
pub use toolgate_store::journal::{
    Decided, Entries, Entry, Fault, Follower, Happened, Outcome, Oversize, Places, Problem,
    PublicKey, Report, parse_rfc3339, read, read_since, rfc3339_of, verify,
};
