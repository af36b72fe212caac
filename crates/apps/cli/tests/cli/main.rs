//! The real binary, run as people and scripts run it: each test has a home of its own in a
//! temporary folder, and servers that are real processes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "these are tests, and they start the program they test"
)]

mod add;
mod approvals;
mod attach;
mod audit;
mod call;
mod config_files;
mod consent;
mod context;
mod context_compile;
mod doctor;
mod examples;
mod export;
mod exposure;
mod hidden;
mod import;
mod ingest;
mod ingest_hostile;
mod ingest_killed;
mod install;
mod list;
mod methods;
mod odd;
mod offering;
mod operators;
mod options;
mod pins;
mod policy;
mod profiles;
mod remove;
mod score;
mod search;
mod serve;
mod servers;
mod stdio;
mod support;
mod terminal;
