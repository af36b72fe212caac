//! An HTTP/1.1 client for one endpoint, with its own connection pool.
//!
//! It sends a request at most once. If a reused connection fails before the request has left, the
//! client sends it again on a new connection. It does not follow redirects, keep cookies or
//! decompress bodies.

mod dial;
mod endpoint;
mod pool;
mod response;

pub use endpoint::HttpEndpoint;
pub use response::{EventStream, HttpResponse};
