//! Pins: the digest of every definition, what changed since it was approved, whether it may be
//! used, and the lock file.
//!
//! Pure: who approved what is remembered elsewhere, and nothing here reads a file or a process.

mod digest;
mod drift;
mod lock;
mod standing;
mod tree;

pub use digest::{digest, instructions_digest, server_digest};
pub use drift::{Change, drift, instructions_drift};
pub use lock::{Lock, LockError, LockedServer, Package, Violation, identity, npm_integrity};
pub use standing::{Pins, Standing, Subject, is_pinned_kind, standing};
