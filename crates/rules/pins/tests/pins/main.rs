//! Digests and drift on generated definitions. A tenth of the cases runs every time; all of them
//! with `TOOLGATE_SOAK` set.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

mod definitions;
mod digests;
#[path = "../../../schema/tests/generate/mod.rs"]
mod generate;
mod schemas;

/// How often something is tried: `normally` ten times less than all.
fn times(all: u64) -> u64 {
    if std::env::var_os("TOOLGATE_SOAK").is_some() { all } else { all / 10 }
}
