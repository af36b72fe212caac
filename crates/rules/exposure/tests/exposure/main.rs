//! What callers see of what servers offer: which rule decides, and what it costs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

mod cost;
mod large;
mod profiles;
mod properties;
mod selection;
mod world;
