//! Streamable HTTP: `/mcp` with POST, GET and DELETE; `/sse` and `/messages` for clients older than
//! that; and `/healthz`. `/mcp/<profile>` and `/sse/<profile>` are the same for one profile; what is
//! begun there goes on there and nowhere else.
//!
//! A request passes the doors (Host, Origin), then its sender is identified (`identity`), then its path and method, then what the method asks
//! of it; only then is its body read. Answers are JSON as long as nothing must be said before them,
//! and event streams after that. Nothing here looks into a message but to compare it with the
//! headers that repeat it: what it means is for `session` and `modern`.

mod answer;
mod body;
mod clock;
mod connections;
mod delete;
mod doors;
mod eventlog;
mod get;
mod headers;
mod identity;
mod mirror;
mod modern;
mod old;
mod payload;
mod post;
mod server;
mod sessions;
mod stream;

pub use identity::tells_who_connects;
pub(crate) use server::serve;
