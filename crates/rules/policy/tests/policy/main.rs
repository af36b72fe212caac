//! The engine against a naive reference, the properties that must hold of any rules, and the holes
//! that other hosts have.

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
