//! Bytes to messages and back, over every carrier MCP uses.
//!
//! This crate frames: lines on pipes, bodies and server-sent events on HTTP. It bounds what it
//! reads and never looks inside a message: what a message means is `engine/session`'s business.
//!
//! * [`line`]: newline-delimited messages on any pair of streams (child processes, sockets, pipes
//!   inside this process).
//! * [`http`]: a pooled HTTP/1.1 client made for one endpoint.
//! * [`http_sse`]: the two endpoints of the oldest HTTP transport, as one pair of streams.
//! * [`local`]: a socket file, for programs of one user on one machine.
//! * [`peer`]: which process is at the other end of a connection from this machine.
//! * [`sse`]: server-sent events, read and written.
//! * [`spool`]: bodies of any allowed size without their weight in memory.
//! * [`refill`]: large answers, written out again from where they lie.

mod error;
pub mod http;
pub mod http_sse;
pub mod line;
pub mod local;
pub mod peer;
pub mod refill;
pub mod spool;
pub mod sse;

pub use error::TransportError;
