//! Sessions against a server played by the test, on a pipe.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests

mod calls;
mod lists;
mod peer;
mod questions;
mod remarks;
