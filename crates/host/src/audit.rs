//! Reads and verifies the journal: what was decided and done, and that it was not modified.
//!
//! Everything here only reads files; no running gateway is needed or affected.

pub use toolgate_journal::{
    DecidedCall, EntryEvent, JournalEntries, JournalEntry, JournalError, JournalFollower,
    JournalOutcome, JournalPaths, JournalProblem, JournalProblemKind, JournalPublicKey,
    OversizeJournalValue, VerifyReport, read, read_since, verify,
};
pub use toolgate_policy::SCHEMA_MISMATCH;
