//! Which file wins, and what variables come to: real files in real folders.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

mod amendments;
mod context;
mod decisions;
mod loops;
mod many;
mod precedence;
mod profiles;
mod properties;
mod variables;
mod world;
