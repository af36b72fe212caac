//! The opening of a session: what we say about ourselves, what the server says about itself.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use toolgate_model::{ServerName, Timeouts};
use toolgate_wire::{Era, Frame, Revision, build, method, scan, string};

use crate::core::{Core, Link};
use crate::exchange::{self, Leg};
use crate::session::fail_on_error;
use crate::{Interactor, Owner, SessionError};

/// What a session is opened with.
pub struct Opening {
    /// Whose session it is.
    pub server: ServerName,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// The client capabilities declared to the server, raw.
    pub capabilities: Bytes,
    /// Who answers outside any call.
    pub ambient: Arc<dyn Interactor>,
    /// Who is told what happens outside any call.
    pub owner: Arc<dyn Owner>,
    /// The era the server is known to be of; `None` finds out by asking. A server known to be
    /// modern is never greeted as a legacy one.
    pub era: Option<Era>,
}

/// What the server said when it let us in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Welcome {
    /// The revision both sides speak from now on.
    pub protocol: Revision,
    /// Its capabilities, raw.
    pub capabilities: Bytes,
    /// Its `serverInfo`, raw.
    pub server_info: Bytes,
    /// What it wants the model to know.
    pub instructions: Option<String>,
}

impl Welcome {
    /// Whether the server declared a capability, by its top-level key.
    pub fn declares(&self, capability: &str) -> bool {
        scan::member(&self.capabilities, capability).is_some()
    }
}

/// Says hello and reads the answer, which may take so long.
pub(crate) async fn shake(
    core: &Arc<Core>,
    capabilities: &[u8],
    start: Duration,
) -> Result<Welcome, SessionError> {
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
    let leg = Leg::first(Timeouts::all(start));
    let answer = exchange::request(core, leg, method::INITIALIZE, Some(&params)).await?;
    let welcome = read(&fail_on_error(answer)?)?;
    core.agreed(welcome.protocol);
    if welcome.declares("logging") {
        core.level.offer();
    }
    let initialized = build::notification(method::INITIALIZED, None);
    match &core.link {
        Link::Line(link) => link.send(&initialized),
        Link::Http(link) => link.deliver(initialized).await?,
    }
    Ok(welcome)
}

fn read(answer: &Frame) -> Result<Welcome, SessionError> {
    let result = answer.result().unwrap_or_default();
    let raw = |key| scan::member(result, key).map(|span| span.of(result));
    let text = |key| raw(key).and_then(string::decode).map(|text| text.into_owned());
    let object = |key| raw(key).map_or(Bytes::from_static(b"{}"), Bytes::copy_from_slice);
    let version = text("protocolVersion")
        .ok_or_else(|| SessionError::Protocol("it names no protocol version".into()))?;
    // A modern revision cannot be agreed on this way.
    let protocol = version.parse().ok().filter(|protocol: &Revision| protocol.era() == Era::Legacy);
    let protocol = protocol.ok_or_else(|| {
        SessionError::Protocol(format!("it speaks `{version}`, which is unknown"))
    })?;
    Ok(Welcome {
        protocol,
        capabilities: object("capabilities"),
        server_info: object("serverInfo"),
        instructions: text("instructions"),
    })
}
