//! The gateway: one gate, served on as many carriers as the caller likes.

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;
use toolgate_host::Gate;
use toolgate_wire::{Frame, Limits};

use crate::events::fan_out;
use crate::modern::{self, Modern};
use crate::principal::{Comer, Place};
use crate::session::{self, Opening, Outlet, Registry, Terms};
use crate::upstreams::Upstreams;
use crate::{GatewayError, Options, http, lines};

/// Serves a gate to MCP clients.
#[derive(Clone)]
pub struct Gateway {
    hub: Arc<Hub>,
    showing: Place,
    operated: bool,
}

/// What all carriers of a gateway share.
pub(crate) struct Hub {
    upstreams: Arc<dyn Upstreams>,
    pub(crate) options: Options,
    pub(crate) registry: Arc<Registry>,
    pub(crate) modern: Modern,
    tasks: [AbortHandle; 2],
}

impl Gateway {
    /// A gateway before this gate. Must be called inside a runtime.
    pub fn new(gate: Arc<Gate>, options: Options) -> Self {
        Self::over(gate, options)
    }

    /// A gateway over whatever stands behind it.
    pub(crate) fn over(upstreams: Arc<dyn Upstreams>, options: Options) -> Self {
        let registry = Arc::new(Registry::default());
        let modern = Modern::new(upstreams.clone(), &options);
        let events = fan_out(upstreams.events(), registry.clone(), modern.listeners());
        let expiry = modern::expire(Arc::downgrade(&modern.visitors()), options.session_ttl);
        let tasks = [tokio::spawn(events).abort_handle(), tokio::spawn(expiry).abort_handle()];
        let hub = Arc::new(Hub { upstreams, options, registry, modern, tasks });
        Self { hub, showing: None, operated: false }
    }

    /// The same gateway, for clients that are to see this profile if they choose none. What is
    /// configured for a client by its name does not count there.
    #[must_use]
    pub fn showing(self, profile: Option<&str>) -> Self {
        Self { showing: profile.map(Arc::from), ..self }
    }

    /// The same gateway, for the command line of whoever runs it: what he types there he need not
    /// approve once more. Only for lines that no other client can write.
    #[must_use]
    pub fn operated(self, operated: bool) -> Self {
        Self { operated, ..self }
    }

    /// How many calls wait for their clients.
    #[cfg(test)]
    pub(crate) fn parked(&self) -> usize {
        self.hub.modern.parked()
    }

    /// Serves Streamable HTTP on `/mcp` and, for one profile, on `/mcp/<profile>`, and `/healthz`
    /// beside them, until `shutdown` is ready; then requests in flight may finish within
    /// [`Options::drain`].
    pub async fn serve_http(
        &self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), GatewayError> {
        http::serve(self.hub.clone(), self.showing.clone(), listener, shutdown).await
    }

    /// Serves one client that sends a message per line (stdio, a socket), until it leaves or
    /// `shutdown` is ready; then requests in flight may finish within [`Options::drain`].
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
        let seat = lines::Seat { place: self.showing.clone(), operated: self.operated };
        lines::serve(self.hub.clone(), seat, (reader, writer), shutdown).await
    }
}

impl Hub {
    /// Answers `initialize`; a session that begins is entered in the registry, and whoever carries
    /// it has it leave.
    pub(crate) fn open(&self, request: &Frame, comer: &Comer, outlet: Arc<dyn Outlet>) -> Opening {
        let Self { upstreams, options, .. } = self;
        let Comer { principal, place, .. } = comer;
        let profile = place.as_deref();
        let terms = Terms { strict: options.strict, profile, principal: principal.clone() };
        let opening = session::open(upstreams, terms, request, outlet);
        if let Opening::Session(session, _) = &opening {
            self.registry.enter(session.clone());
        }
        opening
    }

    /// Waits a moment right after the start, before `initialize` is answered: servers' instructions
    /// are told there and nowhere else.
    pub(crate) async fn await_start(&self) {
        self.upstreams.await_start().await;
    }

    /// The servers behind the gate.
    pub(crate) fn upstreams(&self) -> &dyn Upstreams {
        self.upstreams.as_ref()
    }

    /// How much of a client's message is read.
    pub(crate) fn limits(&self) -> Limits {
        Limits { bytes: self.options.body.total, ..Limits::default() }
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
        self.modern.depart(|_| true);
    }
}
