//! End-to-end tests: the real binary between real servers and real clients.
//!
//! One test program, so that the peers' SDK is linked once. Each module is one promise of the
//! gateway; how a test starts things is in the crate's library.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs,
    reason = "tests: a broken expectation ends the test at once, and programs are started to test"
)]

mod callers;
mod catalogs;
mod clients;
mod context;
mod context_clients;
mod corpus;
mod decisions;
mod doors;
mod eras;
mod examples;
mod growth;
mod hostile;
mod http_upstreams;
mod leaving;
mod lifetimes;
mod limits;
mod masking;
mod operators;
mod parked;
mod plan;
mod profiles;
mod protocol;
mod recorded;
mod released_clients;
mod reload;
mod results;
mod rmcp_peer;
mod schemas;
mod servers;
mod sessions;
mod slow;
mod startup;
mod transparency;
mod upstreams;
