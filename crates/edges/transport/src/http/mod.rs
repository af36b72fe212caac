//! An HTTP/1.1 client for one endpoint, with a pool of its own.
//!
//! It sends a request at most once: only a request that provably never left on a reused connection
//! is sent again on a new one. It follows no redirect, keeps no cookie and decompresses nothing.

mod dial;
mod endpoint;
mod pool;
mod reply;

pub use endpoint::{Endpoint, Outgoing};
pub use reply::{EventStream, Reply};
