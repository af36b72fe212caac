//! The legacy handshake (`initialize`), and the options of opening any session.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use toolgate_model::{Catalog, ServerName, ServerTimeouts};
use toolgate_wire::{Era, Frame, Revision, build, method, scan, string};

use crate::core::{SessionCore, SessionTransport};
use crate::exchange::{self, SendOptions};
use crate::session::fail_on_error;
use crate::{Interactor, SessionError, SessionEventHandler};

/// Options for opening a session.
pub struct SessionOptions {
    /// The name of the server.
    pub server: ServerName,
    /// The time limits.
    pub timeouts: ServerTimeouts,
    /// The client capabilities declared to the server, as raw JSON.
    pub capabilities: Bytes,
    /// Answers the server's questions outside any call.
    pub default_interactor: Arc<dyn Interactor>,
    /// Receives the events that belong to no call.
    pub event_handler: Arc<dyn SessionEventHandler>,
    /// The era the server is known to speak; `None` to probe it. A server known to be modern is
    /// never initialized as a legacy one.
    pub era: Option<Era>,
}

/// Sends `initialize`, waits up to `start` for the answer, and sends `initialized`. Returns what the
/// server reported about itself.
pub(crate) async fn initialize(
    core: &Arc<SessionCore>,
    capabilities: &[u8],
    start: Duration,
) -> Result<Catalog, SessionError> {
    let params = [
        br#"{"protocolVersion":""#,
        Revision::LATEST_LEGACY.as_str().as_bytes(),
        br#"","capabilities":"#,
        capabilities,
        br#","clientInfo":{"name":"toolgate","version":""#,
        env!("CARGO_PKG_VERSION").as_bytes(),
        br#""}}"#,
    ]
    .concat();
    let leg = SendOptions::first(ServerTimeouts::all(start));
    let answer = exchange::request(core, leg, method::INITIALIZE, Some(&params)).await?;
    let welcome = read(&fail_on_error(answer)?)?;
    core.set_revision(welcome.protocol);
    if welcome.declares("logging") {
        core.log_level.set_supported();
    }
    let initialized = build::notification(method::INITIALIZED, None);
    match &core.link {
        SessionTransport::Line(link) => link.send(&initialized),
        SessionTransport::Http(link) => link.deliver(initialized).await?,
    }
    Ok(welcome)
}

fn read(answer: &Frame) -> Result<Catalog, SessionError> {
    let result = answer.result().unwrap_or_default();
    let raw = |key| scan::member(result, key).map(|span| span.slice(result));
    let text = |key| raw(key).and_then(string::decode).map(|text| text.into_owned());
    let object = |key| raw(key).map_or(Bytes::from_static(b"{}"), Bytes::copy_from_slice);
    let version = text("protocolVersion")
        .ok_or_else(|| SessionError::Protocol("the answer has no `protocolVersion`".into()))?;
    // A modern revision cannot be negotiated with `initialize`.
    let protocol = version.parse().ok().filter(|protocol: &Revision| protocol.era() == Era::Legacy);
    let protocol = protocol.ok_or_else(|| {
        SessionError::Protocol(format!("unsupported protocol version `{version}`"))
    })?;
    Ok(Catalog {
        capabilities: object("capabilities"),
        server_info: object("serverInfo"),
        instructions: text("instructions"),
        ..Catalog::empty(protocol)
    })
}
