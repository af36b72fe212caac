//! An MCP session with a gateway, for faces that are its clients.
//!
//! It is the session the host itself keeps with every server, but it leads to no server: whoever
//! wants one asks the [`Host`](crate::Host), behind the gate.

pub use toolgate_session::{Opening, Outbound, Owner, Session, SessionError};
