//! A small JSON-RPC core for the kit's servers.
//!
//! A [`TestService`] handles requests; [`stdio`] and [`http`] transport them, with sessions
//! ([`serve`]) or without ([`serve_stateless`]). A service sends text, so that a server can choose
//! its own spelling of JSON. Of MCP, the core knows only cancellation; capabilities are left to
//! servers.

pub mod http;
mod message;
mod options;
mod outcome;
mod peer;
mod revision;
mod session;
pub mod stdio;

use std::io;
use std::process::ExitCode;
use std::sync::Arc;

pub use http::StatelessService;
pub use message::{
    TestFrame, TestMessage, TestNotification, TestParams, TestRequest, TestRequestId, TestResponse,
};
pub use options::{Options, ServerTransport, USAGE};
pub use outcome::{ResponseOutcome, TestRpcError};
pub(crate) use peer::lock;
pub use peer::{ClientPeer, FrameSink, TestCall};
pub use revision::LegacyRevision;
pub use session::{TestService, TestSession};

/// Serves `open`'s sessions on the carrier the options name, until the client or a signal ends it.
pub async fn serve<S, F>(options: &Options, open: F) -> ExitCode
where
    S: TestService,
    F: Fn(Arc<ClientPeer>) -> Arc<S> + Send + Sync + 'static,
{
    exit_code(match options.carrier {
        ServerTransport::Stdio => stdio::serve(open).await,
        ServerTransport::Http(address) => http::serve(address, options.http.clone(), open).await,
        ServerTransport::Sse(address) => http::serve_sse(address, options.http.clone(), open).await,
    })
}

/// Serves a service that knows no sessions, until the client or a signal ends it.
pub async fn serve_stateless<S: StatelessService>(options: &Options, service: Arc<S>) -> ExitCode {
    exit_code(match options.carrier {
        ServerTransport::Stdio => stdio::serve(move |_| Arc::clone(&service)).await,
        ServerTransport::Http(address) => {
            http::serve_stateless(address, options.http.clone(), service).await
        }
        ServerTransport::Sse(_) => Err(io::Error::other("HTTP+SSE knows sessions only")),
    })
}

fn exit_code(served: io::Result<()>) -> ExitCode {
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot serve: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A random identifier of 128 bits in hexadecimal digits.
pub(crate) fn random_id() -> String {
    let mut bytes = [0_u8; 16];
    // Without randomness the ids would collide, and the tests that need them fail loudly.
    let _ = getrandom::fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
