//! How a gateway behaves where the protocol leaves a choice.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use toolgate_transport::spool::BodyLimits;
use toolgate_wire::Revision;

use crate::ClientProcesses;

/// The choices of one gateway. The defaults are those of `toolgate serve`.
#[derive(Debug, Clone)]
pub struct Options {
    /// Speak this revision and refuse every other.
    pub strict: Option<Revision>,
    /// How many HTTP sessions may live at once, a quarter of them of one client. Beyond it its own
    /// that is idle longest goes; if none is idle, new ones are refused.
    pub sessions: usize,
    /// How long an HTTP session may be idle, and a client without one be remembered.
    pub session_ttl: Duration,
    /// How long a call waits for a client without session that was asked something.
    pub park: Duration,
    /// How many HTTP connections may be open at once, a quarter of them of one client. Beyond it the
    /// one that keeps us waiting longest is cut; if all are being served, new ones wait.
    pub connections: usize,
    /// How long a request may take before its answer becomes an event stream.
    pub sse_after: Duration,
    /// How long the stream of a request may be silent before it is closed and the client resumes
    /// it (2025-11-25 only).
    pub poll_after: Option<Duration>,
    /// How often a silent stream shows that it is alive.
    pub keep_alive: Duration,
    /// After how long a client should come back to a stream that was closed.
    pub retry: Duration,
    /// How long a call goes on whose client has left the stream it is answered on: the client may
    /// come back to it. Then the call is cancelled.
    pub resume: Duration,
    /// When a connection that says nothing is cut.
    pub cuts: Cuts,
    /// Names, beside those of the loopback, under which clients may reach the gateway: `host` (on
    /// the gateway's own port) or `host:port`.
    pub hosts: Vec<String>,
    /// Origins, beside those of the allowed hosts, whose pages may reach the gateway.
    pub origins: Vec<String>,
    /// How large a message may be.
    pub body: BodyLimits,
    /// How long requests in flight may go on after the gateway was told to end.
    pub drain: Duration,
    /// What `/healthz` says of the servers.
    pub health: Health,
    /// Where the processes of clients that connect over HTTP are recorded.
    pub clients: ClientProcesses,
}

/// How long a connection may keep us waiting.
#[derive(Debug, Clone, Copy)]
pub struct Cuts {
    /// For the whole head of a request, once it has begun.
    pub head: Duration,
    /// For the next part of a body.
    pub body: Duration,
    /// For a whole body that does not come at once.
    pub upload: Duration,
    /// For the next request.
    pub idle: Duration,
    /// To take what we send.
    pub stall: Duration,
}

impl Default for Cuts {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            body: Duration::from_secs(15),
            upload: Duration::from_secs(60),
            idle: Duration::from_secs(60),
            stall: Duration::from_secs(30),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            strict: None,
            sessions: 1024,
            session_ttl: Duration::from_secs(30 * 60),
            park: Duration::from_secs(5 * 60),
            connections: 1024,
            sse_after: Duration::from_secs(2),
            poll_after: Some(Duration::from_secs(5 * 60)),
            keep_alive: Duration::from_secs(15),
            retry: Duration::from_secs(1),
            resume: Duration::from_secs(10),
            cuts: Cuts::default(),
            hosts: Vec::new(),
            origins: Vec::new(),
            body: BodyLimits::default(),
            drain: Duration::from_secs(10),
            health: Health::default(),
            clients: ClientProcesses::default(),
        }
    }
}

/// Tells how the servers are.
#[derive(Clone)]
pub struct Health(Arc<dyn Fn() -> Value + Send + Sync>);

impl Health {
    /// Asks `summary` each time somebody wants to know. It must not wait.
    pub fn new(summary: impl Fn() -> Value + Send + Sync + 'static) -> Self {
        Self(Arc::new(summary))
    }

    pub(crate) fn summary(&self) -> Value {
        (self.0)()
    }
}

impl Default for Health {
    fn default() -> Self {
        Self::new(|| Value::Null)
    }
}

impl fmt::Debug for Health {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Health")
    }
}
