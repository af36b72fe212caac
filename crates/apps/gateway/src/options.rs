//! The options of a gateway.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use toolgate_transport::spool::BodyLimits;
use toolgate_wire::Revision;

use crate::ClientProcesses;

/// The options of one gateway. The defaults are those of `toolgate serve`.
#[derive(Clone)]
pub struct Options {
    /// Support only this revision and reject every other.
    pub strict: Option<Revision>,
    /// How many HTTP sessions may exist at once, a quarter of them for one client. Beyond that, the
    /// client's session that has been idle longest is ended; if none is idle, new ones are
    /// rejected.
    pub sessions: usize,
    /// How long an HTTP session may be idle, and how long a modern client is remembered.
    pub session_ttl: Duration,
    /// How long a parked call waits for its client's answers.
    pub park_timeout: Duration,
    /// How many HTTP connections may be open at once, a quarter of them for one client. Beyond
    /// that, the slowest is closed; if all are being served, new ones wait.
    pub connections: usize,
    /// How long a request may take before its answer becomes an event stream.
    pub sse_after: Duration,
    /// How long the stream of a request may be silent before it is closed and the client resumes it
    /// (2025-11-25 only).
    pub poll_after: Option<Duration>,
    /// How often a silent stream sends a keep-alive.
    pub keep_alive: Duration,
    /// How long a client should wait before it resumes a stream that was closed.
    pub retry: Duration,
    /// How long a call continues after its client has left the stream, so that the client can
    /// resume. After that the call is cancelled.
    pub resume_timeout: Duration,
    /// When a slow or idle connection is closed.
    pub timeouts: ConnectionTimeouts,
    /// Names, in addition to those of the loopback, under which clients may reach the gateway:
    /// `host` (on the gateway's own port) or `host:port`.
    pub hosts: Vec<String>,
    /// Origins, in addition to those of the allowed hosts, of pages that may reach the gateway.
    pub origins: Vec<String>,
    /// How large a message may be.
    pub body: BodyLimits,
    /// How long requests in flight may continue after shutdown was requested.
    pub drain_timeout: Duration,
    /// The description of the servers in `/healthz`.
    pub health: HealthSource,
    /// Records the processes of clients that connect over HTTP.
    pub clients: ClientProcesses,
}

/// How long the gateway waits for a connection.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionTimeouts {
    /// For the whole head of a request, once it has begun.
    pub head: Duration,
    /// For the next chunk of a body.
    pub body: Duration,
    /// For a whole body that does not arrive in one chunk.
    pub upload: Duration,
    /// For the next request.
    pub idle: Duration,
    /// For a blocked write to make progress.
    pub stall: Duration,
}

impl Default for ConnectionTimeouts {
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
            park_timeout: Duration::from_secs(5 * 60),
            connections: 1024,
            sse_after: Duration::from_secs(2),
            poll_after: Some(Duration::from_secs(5 * 60)),
            keep_alive: Duration::from_secs(15),
            retry: Duration::from_secs(1),
            resume_timeout: Duration::from_secs(10),
            timeouts: ConnectionTimeouts::default(),
            hosts: Vec::new(),
            origins: Vec::new(),
            body: BodyLimits::default(),
            drain_timeout: Duration::from_secs(10),
            health: Arc::new(|| Value::Null),
            clients: ClientProcesses::default(),
        }
    }
}

/// A function that describes the state of the servers. It is called for each request and must not
/// block.
pub type HealthSource = Arc<dyn Fn() -> Value + Send + Sync>;
