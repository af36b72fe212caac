//! The gate before servers that live in the test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests

mod apps;
mod arguments;
mod asks;
mod catalogs;
mod decisions;
mod deferred;
mod eras;
mod extensions;
mod fleet;
mod hearing;
mod names;
mod ownership;
mod profiles;
mod results;
mod selection;
mod silence;
mod skills;
mod start;
mod tasks;
mod text;
