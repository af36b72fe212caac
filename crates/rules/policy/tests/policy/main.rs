//! Tests the engine against a naive reference, against properties that hold for all rules, and
//! against security holes of other hosts.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

mod bad_rules;
mod cost;
mod explained;
mod findings;
mod holes;
mod lattice;
mod properties;
mod reference;
mod world;
