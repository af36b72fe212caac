//! The servers as a client meets them: over their pipe, on a small library of real documents.
//!
//! Whatever a tool gives back is held against the schema it declared, by a validator that is not ours.

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
