//! MCP sessions with a gateway, for programs that are its clients.
//!
//! To call servers directly, use the [`Host`](crate::Host), which passes the gate.

pub use toolgate_session::{
    OutboundRequest, Session, SessionError, SessionEventHandler, SessionOptions,
};
