//! The gate served to MCP clients: Streamable HTTP on a loopback port, and lines on stdio or a
//! socket.
//!
//! Clients of revisions up to 2025-11-25 have a session (`session`), which opens with
//! `initialize`; those of 2026-07-28 (`modern`) have none. Both are the same whatever carries
//! them; the carriers (`http`, `lines`) tell them apart message by message and turn their
//! exchanges into responses, events and lines. Absent on purpose: which server has what, who may
//! call it and how servers are reached. All of that is behind the gate.

mod clients;
mod error;
mod events;
mod gateway;
mod http;
mod lines;
mod modern;
mod options;
mod peer;
mod principal;
mod session;
mod shares;
mod upstreams;

#[cfg(test)]
mod tests;

pub use clients::ClientProcesses;
pub use error::GatewayError;
pub use gateway::Gateway;
pub use http::tells_who_connects;
pub use options::{Cuts, Health, Options};
