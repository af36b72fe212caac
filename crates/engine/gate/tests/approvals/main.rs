//! Approvals that hold: asked where a person is, answered once, used once, bound to one call.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests

mod flood;
mod forms;
mod grants;
mod operator;
mod schedules;
mod support;
