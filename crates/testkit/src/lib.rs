//! Real MCP peers for tests: servers, a load generator and a bare proxy, each also a binary.
//!
//! The kit deliberately shares no code with the gateway, so that both cannot share the same
//! misunderstanding of the protocol.

pub mod bulk;
pub mod echo;
pub mod fixture;
pub mod floor;
pub mod hostile;
pub mod load;
pub mod model;
pub mod provider_schemas;
pub mod recorder;
pub mod rpc;
pub mod turncoat;
pub mod weird;
