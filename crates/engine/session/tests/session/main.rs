//! Sessions against a server played by the test, on a pipe and on loopback HTTP.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests

mod calls;
mod dress;
mod eras;
mod headers;
mod http;
mod listening;
mod lists;
mod peer;
mod questions;
mod remarks;
mod rounds;
