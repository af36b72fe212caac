//! One client of HTTP+SSE, for as long as its stream is open.

use std::sync::Arc;

use parking_lot::Mutex;
use toolgate_wire::{Frame, MessageKind, MessageOrBatch, method};

use super::outbox::SseOutbox;
use crate::exchange::{Exchange, MessageSink, ResponseMode, RpcResponse};
use crate::gateway::GatewayState;
use crate::http::clock::{HttpConnectionPhase, HttpConnectionState};
use crate::http::server::unknown_session;
use crate::peer::PeerId;
use crate::peer_quota::PeerQuotaEntry;
use crate::principal::ClientIdentity;
use crate::rejection::Rejection;
use crate::session::{LegacySession, NOT_INITIALIZED, answer_uninitialized};

/// A client and its session, once it has one.
pub(super) struct ConnectedSseClient {
    gateway: Arc<GatewayState>,
    pub(super) identity: ClientIdentity,
    /// The peer whose quota this client uses.
    peer: PeerId,
    pub(super) outbox: Arc<SseOutbox>,
    /// When the stream was opened.
    pub(super) opened_at: u64,
    /// The connection that carries the stream.
    connection: Arc<HttpConnectionState>,
    state: Mutex<SseClientState>,
}

/// The state of a client's session.
enum SseClientState {
    /// The client has not sent `initialize`.
    New,
    /// The session is initialized.
    Open(Arc<LegacySession>),
    /// The stream has ended.
    Closed,
}

impl ConnectedSseClient {
    pub(super) fn new(
        gateway: Arc<GatewayState>,
        identity: ClientIdentity,
        opened_at: u64,
        connection: Arc<HttpConnectionState>,
    ) -> Self {
        connection.set_phase(HttpConnectionPhase::Silent);
        let (outbox, state) = (Arc::default(), Mutex::new(SseClientState::New));
        Self { gateway, peer: identity.peer_id(), identity, outbox, opened_at, connection, state }
    }

    /// Handles a message. Its answer goes onto the stream.
    pub(super) fn handle_message(&self, message: MessageOrBatch) -> Result<(), Rejection> {
        let session = match &*self.state.lock() {
            SseClientState::Closed => return Err(unknown_session()),
            SseClientState::New => None,
            SseClientState::Open(session) => Some(session.clone()),
        };
        match (session, message) {
            (Some(session), message) => {
                let exchange = session.handle_message(message, ResponseMode::Streaming)?;
                exchange.into_iter().for_each(|exchange| self.spawn_exchange(exchange));
                Ok(())
            }
            (None, MessageOrBatch::One(frame)) => self.handle_uninitialized(frame),
            (None, MessageOrBatch::Batch(_)) => {
                Err(Rejection::invalid_request(None, NOT_INITIALIZED))
            }
        }
    }

    /// Handles a message before `initialize`. Only `initialize` and `ping` succeed.
    fn handle_uninitialized(&self, frame: Frame) -> Result<(), Rejection> {
        if frame.kind() != MessageKind::Request {
            return Ok(());
        }
        if frame.is(method::INITIALIZE) {
            return self.open_session(frame);
        }
        answer_uninitialized(&frame).into_iter().for_each(|reply| self.send_response(reply));
        Ok(())
    }

    fn open_session(&self, request: Frame) -> Result<(), Rejection> {
        let mut state = self.state.lock();
        if !matches!(*state, SseClientState::New) {
            // Another POST was faster. The session answers the second `initialize` with an error.
            drop(state);
            return self.handle_message(MessageOrBatch::One(request));
        }
        let reply = match self.gateway.open_session(&request, &self.identity, self.outbox.clone()) {
            Ok((session, reply)) => {
                *state = SseClientState::Open(session);
                self.connection.set_phase(HttpConnectionPhase::Serving);
                reply
            }
            Err(reply) => reply,
        };
        self.send_response(reply);
        Ok(())
    }

    /// Runs an exchange in a task of its own. It ends at the latest when the session ends.
    fn spawn_exchange(&self, mut exchange: Exchange) {
        if let Exchange::Answered(reply) = exchange {
            return self.send_response(reply);
        }
        let outbox = self.outbox.clone();
        tokio::spawn(async move {
            let reply = exchange.run(outbox.as_ref()).await;
            outbox.send(reply.into_line());
        });
    }

    fn send_response(&self, reply: RpcResponse) {
        self.outbox.send(reply.into_line());
    }

    /// Returns true if the client has not opened a session yet.
    pub(super) fn is_new(&self) -> bool {
        matches!(*self.state.lock(), SseClientState::New)
    }

    pub(super) fn in_flight(&self) -> usize {
        match &*self.state.lock() {
            SseClientState::Open(session) => session.in_flight(),
            SseClientState::New | SseClientState::Closed => 0,
        }
    }

    /// Ends the session and everything that runs in it.
    pub(super) fn close(&self) {
        let ended = std::mem::replace(&mut *self.state.lock(), SseClientState::Closed);
        if let SseClientState::Open(session) = ended {
            self.gateway.sessions.close(&session);
        }
        self.outbox.close();
    }
}

impl PeerQuotaEntry for ConnectedSseClient {
    fn peer(&self) -> &PeerId {
        &self.peer
    }

    /// A client is idle until it opens a session.
    fn idle_since(&self) -> Option<u64> {
        self.is_new().then_some(self.opened_at)
    }
}
