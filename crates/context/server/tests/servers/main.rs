//! The servers as a client sees them: over a pipe, with a small library of real documents.
//!
//! A third-party validator checks every result against the schema that the tool declares.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests: a broken expectation ends the test at once"
)]

mod answers;
mod definitions;
mod empty;
mod extracts;
mod gateway_face;
mod hostile;
mod peer;
mod shelf;
mod taking_in;
