//! The clients of HTTP+SSE: their ids, their owners and their limits.
//!
//! A client is registered for as long as its stream is open. A client that opens a stream and sends
//! nothing is closed after a timeout, or earlier if its slot or its connection is needed.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use toolgate_transport::chunked_message::OutgoingMessage;
use toolgate_transport::sse;

use super::MESSAGES_PATH;
use super::client::ConnectedSseClient;
use crate::gateway::GatewayState;
use crate::http::clock::{CoarseClock, HttpConnectionState};
use crate::http::sessions::HttpSessionId;
use crate::http::stream::EventSource;
use crate::peer_quota::PeerLimits;
use crate::principal::{ClientIdentity, ClientPrincipal};
use crate::rejection::Rejection;

/// The HTTP+SSE clients of one server.
pub(crate) struct SseClients {
    open: papaya::HashMap<HttpSessionId, Arc<ConnectedSseClient>>,
    clock: Arc<CoarseClock>,
    limits: PeerLimits,
    /// How long a client may take to send its first message.
    idle_timeout: Duration,
}

/// A client's stream. Dropping it closes the client.
pub(crate) struct SseClientGuard {
    clients: Arc<SseClients>,
    key: HttpSessionId,
    client: Arc<ConnectedSseClient>,
}

impl SseClients {
    pub(crate) fn new(
        clock: Arc<CoarseClock>,
        max_clients: usize,
        idle_timeout: Duration,
    ) -> Arc<Self> {
        Arc::new(Self {
            open: papaya::HashMap::new(),
            clock,
            limits: PeerLimits::from_total(max_clients, 4),
            idle_timeout,
        })
    }

    /// Registers a new client and sends it the path for POST requests.
    pub(super) fn insert(
        self: &Arc<Self>,
        gateway: Arc<GatewayState>,
        identity: ClientIdentity,
        connection: Arc<HttpConnectionState>,
    ) -> Result<SseClientGuard, Rejection> {
        let open = self.open.pin();
        let entries = || open.iter().map(|(key, client)| (*key, client.as_ref()));
        let evicted = self.limits.make_room(&identity.peer_id(), entries);
        let key = HttpSessionId::reserve(evicted, |evicted| {
            open.remove(&evicted).inspect(|client| client.close());
        })?;
        let client =
            Arc::new(ConnectedSseClient::new(gateway, identity, self.clock.now(), connection));
        let endpoint = format!("{MESSAGES_PATH}?session={key}");
        client.outbox.push(sse::event("endpoint", None, Bytes::from(endpoint).into()));
        open.insert(key, client.clone());
        Ok(SseClientGuard { clients: self.clone(), key, client })
    }

    /// Returns the client with this id if it belongs to the principal.
    pub(super) fn find(
        &self,
        id: &str,
        principal: &ClientPrincipal,
    ) -> Option<Arc<ConnectedSseClient>> {
        let client = self.open.pin().get(&HttpSessionId::parse(id.as_bytes())?).cloned()?;
        (client.identity.principal == *principal).then_some(client)
    }

    /// Closes clients that opened no session in time, and those of revoked principals.
    pub(crate) fn sweep(&self, is_revoked: impl Fn(&ClientPrincipal) -> bool) {
        let open = self.open.pin();
        for client in open.values() {
            let late =
                client.is_new() && self.clock.has_elapsed(client.opened_at, self.idle_timeout);
            if late || is_revoked(&client.identity.principal) {
                client.close();
            }
        }
    }

    /// Returns how many requests are in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.open.pin().values().map(|client| client.in_flight()).sum()
    }

    /// Closes all clients.
    pub(crate) fn close_all(&self) {
        self.open.pin().values().for_each(|client| client.close());
    }
}

impl EventSource for SseClientGuard {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<OutgoingMessage>> {
        self.client.outbox.poll_next(context)
    }
}

impl Drop for SseClientGuard {
    fn drop(&mut self) {
        self.clients.open.pin().remove(&self.key);
        self.client.close();
    }
}
