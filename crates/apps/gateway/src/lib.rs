//! Serves the gate to MCP clients: Streamable HTTP on a loopback port, and JSON lines on stdio or a
//! socket.
//!
//! Clients of revisions up to 2025-11-25 have a session (`session`), which begins with
//! `initialize`. Clients of 2026-07-28 have none (`modern`). Both modules are independent of the
//! transport and answer requests with exchanges (`exchange`). The transports (`http`, `lines`)
//! classify each message and turn exchanges into responses, events and lines. This crate does not
//! know which server offers which capability, who may call it or how to reach it. The gate decides
//! all of that.

mod client_processes;
mod error;
mod events;
mod exchange;
mod gateway;
mod http;
mod lines;
mod modern;
mod options;
mod peer;
mod peer_quota;
mod polled_state;
mod principal;
mod rejection;
mod session;

#[cfg(test)]
mod tests;

// Unit tests need a gate that does exactly what a test says, when it says it: they decide how long
// a call waits, when it asks and which events occur. The tests in `tests/` use the real gate.
#[cfg(test)]
use tests::script::Script as Gate;
#[cfg(not(test))]
use toolgate_host::Gate;

pub use client_processes::ClientProcesses;
pub use error::GatewayError;
pub use gateway::Gateway;
pub use http::can_identify_peer;
pub use options::{ConnectionTimeouts, HealthSource, Options};
