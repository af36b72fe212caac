//! Turns bytes into messages and back, over every transport MCP uses.
//!
//! This crate does the framing: lines on pipes, bodies and server-sent events on HTTP. It limits
//! the size of what it reads and does not look inside a message: `engine/session` interprets them.
//!
//! * [`line`]: newline-delimited messages on any pair of streams (child processes, sockets, pipes
//!   inside this process).
//! * [`http`]: a pooled HTTP/1.1 client made for one endpoint.
//! * [`http_sse`]: the two endpoints of the oldest HTTP transport, as one pair of streams.
//! * [`local`]: a Unix socket, for programs of one user on one machine.
//! * [`peer`]: which process is at the other end of a connection from this machine.
//! * [`sse`]: reading and writing server-sent events.
//! * [`spool`]: bodies that move to a file when they are large.
//! * [`chunked_message`]: large messages, written chunk by chunk from their file.

pub mod chunked_message;
mod error;
pub mod http;
pub mod http_sse;
pub mod line;
pub mod local;
pub mod peer;
pub mod spool;
pub mod sse;

pub use error::TransportError;
