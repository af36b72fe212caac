//! A small JSON-RPC peer core for the kit's servers: one behaviour, several carriers.
//!
//! A [`Service`] says what a server does with a request; [`stdio`] and [`http`] carry it, with
//! sessions ([`serve`]) or without ([`serve_stateless`]). What a service sends is text, so that a server may choose its own spelling of JSON. The core does not
//! know MCP beyond cancellation, and holds no opinion on capabilities: those belong to a server.

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

pub use http::Stateless;
pub use message::{Frame, Id, Message, Notification, Params, Request, Response};
pub use options::{Carrier, Options, USAGE};
pub use outcome::{Fault, Outcome};
pub(crate) use peer::lock;
pub use peer::{Call, Outlet, Peer};
pub use revision::Revision;
pub use session::{Service, Session};

/// Serves `open`'s sessions on the carrier the options name, until the client or a signal ends it.
pub async fn serve<S, F>(options: &Options, open: F) -> ExitCode
where
    S: Service,
    F: Fn(Arc<Peer>) -> Arc<S> + Send + Sync + 'static,
{
    concluded(match options.carrier {
        Carrier::Stdio => stdio::serve(open).await,
        Carrier::Http(address) => http::serve(address, options.http.clone(), open).await,
        Carrier::Sse(address) => http::serve_sse(address, options.http.clone(), open).await,
    })
}

/// Serves a service that knows no sessions, until the client or a signal ends it.
pub async fn serve_stateless<S: Stateless>(options: &Options, service: Arc<S>) -> ExitCode {
    concluded(match options.carrier {
        Carrier::Stdio => stdio::serve(move |_| Arc::clone(&service)).await,
        Carrier::Http(address) => {
            http::serve_stateless(address, options.http.clone(), service).await
        }
        Carrier::Sse(_) => Err(io::Error::other("HTTP+SSE knows sessions only")),
    })
}

fn concluded(served: io::Result<()>) -> ExitCode {
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("failed to serve: {error}");
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
