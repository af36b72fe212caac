//! Streamable HTTP: `/mcp` with POST, GET and DELETE, `/sse` and `/messages` for older clients, and
//! `/healthz`. `/mcp/<profile>` and `/sse/<profile>` serve a single profile; a session that begins
//! there is found under no other path.
//!
//! The server checks a request in this order: Host and Origin, path, method and headers, the
//! sender's identity (`identity`). It reads the body last. An answer is plain JSON unless a message
//! must precede it; then the response is an event stream. This module only compares messages with
//! the headers that repeat them. Their meaning is left to `session` and `modern`.

mod body;
mod clock;
mod connections;
mod event_log;
mod get;
mod header_match;
mod headers;
mod host_allowlist;
mod identity;
mod legacy_sse;
mod modern;
mod post;
mod response_body;
mod responses;
mod server;
mod sessions;
mod stream;

pub use identity::can_identify_peer;
pub(crate) use server::serve;
