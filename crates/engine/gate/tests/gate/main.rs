//! The gate before servers that live in the test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests

mod apps;
mod eras;
mod extensions;
mod fleet;
mod names;
mod ownership;
mod selection;
mod skills;
mod start;
mod tasks;
