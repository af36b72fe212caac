//! Reads and verifies the journal: what was decided and done, and that it was not modified.
//!
//! Everything here only reads files; no running gateway is needed or affected.

pub use toolgate_store::StoreError as AuditError;
pub use toolgate_store::journal::{
    DecidedCall, EntryEvent, JournalEntries, JournalEntry, JournalFollower, JournalOutcome,
    JournalPaths, JournalProblem, JournalProblemKind, JournalPublicKey, OversizeSummary,
    VerifyReport, parse_rfc3339, read, read_since, rfc3339_from_time, verify,
};
