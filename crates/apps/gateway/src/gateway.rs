//! The gateway: serves one gate on any number of transports.

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;
use toolgate_wire::MessageLimits;

use crate::events::fan_out;
use crate::modern::{self, ModernHandler};
use crate::principal::RequestedProfile;
use crate::session::LegacySessions;
use crate::{Gate, GatewayError, Options, http, lines};

/// Serves a gate to MCP clients.
#[derive(Clone)]
pub struct Gateway {
    pub(crate) state: Arc<GatewayState>,
    default_profile: RequestedProfile,
    is_operator: bool,
}

/// The state that all transports of a gateway share.
pub(crate) struct GatewayState {
    pub(crate) gate: Arc<Gate>,
    pub(crate) options: Options,
    pub(crate) sessions: Arc<LegacySessions>,
    pub(crate) modern: ModernHandler,
    tasks: [AbortHandle; 2],
}

impl Gateway {
    /// Creates a gateway for this gate. Must be called inside a Tokio runtime.
    pub fn new(gate: Arc<Gate>, options: Options) -> Self {
        let sessions = Arc::new(LegacySessions::default());
        let modern = ModernHandler::new(gate.clone(), &options);
        let events = fan_out(gate.events(), sessions.clone(), modern.subscribers.clone());
        let expiry = modern::expire_idle(Arc::downgrade(&modern.clients), options.session_ttl);
        let tasks = [tokio::spawn(events).abort_handle(), tokio::spawn(expiry).abort_handle()];
        let state = Arc::new(GatewayState { gate, options, sessions, modern, tasks });
        Self { state, default_profile: None, is_operator: false }
    }

    /// Returns the same gateway with a profile for clients that request none. It takes precedence
    /// over a profile that is configured for a client by name.
    #[must_use]
    pub fn with_default_profile(self, profile: Option<&str>) -> Self {
        Self { default_profile: profile.map(Arc::from), ..self }
    }

    /// Returns the same gateway for the operator's own command line. Calls typed there need no
    /// further approval. Use it only for connections that no other client can write to.
    #[must_use]
    pub fn for_operator(self, is_operator: bool) -> Self {
        Self { is_operator, ..self }
    }

    /// Serves Streamable HTTP on `/mcp`, on `/mcp/<profile>` for a single profile, and `/healthz`,
    /// until `shutdown` is ready. After that, requests in flight have [`Options::drain_timeout`] to
    /// finish.
    pub async fn serve_http(
        &self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), GatewayError> {
        http::serve(self.state.clone(), self.default_profile.clone(), listener, shutdown).await
    }

    /// Serves one client that sends one message per line (stdio or a socket), until it disconnects
    /// or `shutdown` is ready. After that, requests in flight have [`Options::drain_timeout`] to
    /// finish.
    pub async fn serve_lines<R, W>(
        &self,
        reader: R,
        writer: W,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), GatewayError>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (state, profile) = (self.state.clone(), self.default_profile.clone());
        lines::serve(state, profile, self.is_operator, (reader, writer), shutdown).await
    }
}

impl GatewayState {
    /// Returns the limits for a client's messages.
    pub(crate) fn wire_limits(&self) -> MessageLimits {
        MessageLimits { bytes: self.options.body.total, ..MessageLimits::default() }
    }
}

impl Drop for GatewayState {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
        self.modern.forget_principals(|_| true);
    }
}
