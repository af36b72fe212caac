//! A small JSON-RPC peer core for the kit's servers: one behaviour, two carriers.
//!
//! A [`Service`] says what a server does with a request; [`stdio`] and [`http`] carry it. What a
//! service sends is text, so that a server may choose its own spelling of JSON. The core does not
//! know MCP beyond cancellation, and holds no opinion on capabilities: those belong to a server.

pub mod http;
mod message;
mod options;
mod outcome;
mod peer;
mod revision;
mod session;
pub mod stdio;

use std::process::ExitCode;
use std::sync::Arc;

pub use message::{Frame, Id, Message, Notification, Params, Request, Response};
pub use options::{Carrier, Options};
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
    let served = match options.carrier {
        Carrier::Stdio => stdio::serve(open).await,
        Carrier::Http(address) => http::serve(address, options.http.clone(), open).await,
    };
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
