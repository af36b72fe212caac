//! The gate served to MCP clients: Streamable HTTP on a loopback port, and lines on stdio or a
//! socket.
//!
//! A client's session (`session`) is the same whatever carries it; the carriers (`http`,
//! `lines`) turn its exchanges into responses, events and lines. Absent on purpose: which server
//! has what, who may call it and how servers are reached. All of that is behind the gate.
//!
//! Revisions up to 2025-11-25 are served, which open with `initialize`. Later ones have no session:
//! they will enter where a carrier now asks for one.

mod error;
mod gateway;
mod http;
mod lines;
mod options;
mod session;
mod upstreams;

#[cfg(test)]
mod tests;

pub use error::GatewayError;
pub use gateway::Gateway;
pub use options::{Cuts, Health, Options};
