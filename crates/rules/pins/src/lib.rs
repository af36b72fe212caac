//! Pins: digests of definitions, differences from the approved ones, the decision whether a
//! definition may be used, and the lock file.
//!
//! This crate is pure. It reads no files and starts no processes; approvals are stored elsewhere.

mod canonical_json;
mod digest;
mod drift;
mod lock;
mod pin_status;

pub use digest::{definition_digest, instructions_digest};
pub use drift::{DefinitionDifference, compare_definitions, compare_instructions};
pub use lock::{
    LockFile, LockFileError, LockViolation, LockedServer, ServerPackage, identity_digest,
    npm_integrity,
};
pub use pin_status::{PinStatus, PinSubject, Pins, evaluate_pin, is_pinned_kind};
