//! One client of HTTP+SSE, for as long as its stream is open.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolgate_wire::{Frame, MessageKind, MessageOrBatch, WireError, build, code, method};

use super::outbox::SseOutbox;
use crate::gateway::GatewayState;
use crate::http::clock::{ConnectionPhase, ConnectionState};
use crate::peer::PeerId;
use crate::principal::ClientIdentity;
use crate::session::{
    InitializeOutcome, LegacyExchange, LegacySession, MessageSink, ResponseMode, RpcResponse,
    run_exchange,
};

/// A client and its session, once it has one.
pub(super) struct SseClient {
    gateway: Arc<GatewayState>,
    pub(super) identity: ClientIdentity,
    /// The peer whose quota this client uses.
    pub(super) peer: PeerId,
    pub(super) outbox: Arc<SseOutbox>,
    /// When the stream was opened.
    pub(super) opened_at: u64,
    /// The connection that carries the stream.
    connection: Arc<ConnectionState>,
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

impl SseClient {
    pub(super) fn new(
        gateway: Arc<GatewayState>,
        identity: ClientIdentity,
        opened_at: u64,
        connection: Arc<ConnectionState>,
    ) -> Self {
        connection.set_phase(ConnectionPhase::Silent);
        let (outbox, state) = (Arc::default(), Mutex::new(SseClientState::New));
        Self { gateway, peer: identity.peer_id(), identity, outbox, opened_at, connection, state }
    }

    fn state(&self) -> MutexGuard<'_, SseClientState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Handles a message. Returns false if the stream has ended, and an error if the session cannot
    /// take such a message.
    pub(super) fn handle_message(&self, message: MessageOrBatch) -> Result<bool, RpcResponse> {
        let session = match &*self.state() {
            SseClientState::Closed => return Ok(false),
            SseClientState::New => None,
            SseClientState::Open(session) => Some(session.clone()),
        };
        match (session, message) {
            (Some(session), message) => {
                self.handle_session_message(&session, message).map(|()| true)
            }
            (None, MessageOrBatch::One(frame)) => Ok(self.handle_uninitialized(&frame)),
            (None, MessageOrBatch::Batch(_)) => Err(RpcResponse::from_message(
                build::error_response(None, code::INVALID_REQUEST, NOT_INITIALIZED, None),
            )),
        }
    }

    /// Handles a message before `initialize`. Only `initialize` and `ping` succeed.
    fn handle_uninitialized(&self, frame: &Frame) -> bool {
        let Some(id) = frame.id().filter(|_| frame.kind() == MessageKind::Request) else {
            return true;
        };
        if frame.is(method::INITIALIZE) {
            return self.open_session(frame);
        }
        let id = id.to_owned();
        self.send_response(match frame.is(method::PING) {
            true => RpcResponse::result(&id, b"{}"),
            false => RpcResponse::failure(&id, code::INVALID_REQUEST, NOT_INITIALIZED),
        });
        true
    }

    fn open_session(&self, request: &Frame) -> bool {
        let mut state = self.state();
        let session = match &*state {
            SseClientState::Closed => return false,
            SseClientState::Open(session) => Some(session.clone()),
            SseClientState::New => None,
        };
        let reply = match session {
            // Another POST was faster. The session answers the second `initialize` with an error.
            Some(session) => {
                drop(state);
                self.spawn_exchange(
                    session.handle_request(request.clone(), ResponseMode::Streaming),
                );
                return true;
            }
            None => match self.gateway.open_session(request, &self.identity, self.outbox.clone()) {
                InitializeOutcome::Session(session, reply) => {
                    *state = SseClientState::Open(session);
                    self.connection.set_phase(ConnectionPhase::Serving);
                    reply
                }
                InitializeOutcome::Refused(reply) => reply,
            },
        };
        self.send_response(reply);
        true
    }

    fn handle_session_message(
        &self,
        session: &Arc<LegacySession>,
        message: MessageOrBatch,
    ) -> Result<(), RpcResponse> {
        match message {
            MessageOrBatch::One(frame) if frame.kind() == MessageKind::Request => {
                self.spawn_exchange(session.handle_request(frame, ResponseMode::Streaming));
            }
            MessageOrBatch::One(frame) => session.handle_one_way(frame),
            MessageOrBatch::Batch(messages) => self.handle_batch(session, messages)?,
        }
        Ok(())
    }

    fn handle_batch(
        &self,
        session: &Arc<LegacySession>,
        messages: Vec<Result<Frame, WireError>>,
    ) -> Result<(), RpcResponse> {
        if let Some(exchange) = session.handle_batch(messages, ResponseMode::Streaming)? {
            self.spawn_exchange(exchange);
        }
        Ok(())
    }

    /// Runs an exchange in a task of its own. It ends at the latest when the session ends.
    fn spawn_exchange(&self, mut exchange: LegacyExchange) {
        if let LegacyExchange::Answered(reply) = exchange {
            return self.send_response(reply);
        }
        let outbox = self.outbox.clone();
        tokio::spawn(async move {
            let reply = run_exchange(|context| exchange.poll_step(context), outbox.as_ref()).await;
            outbox.send_response(reply);
        });
    }

    fn send_response(&self, reply: RpcResponse) {
        self.outbox.send_response(reply);
    }

    /// Returns true if the client has not opened a session yet.
    pub(super) fn is_new(&self) -> bool {
        matches!(*self.state(), SseClientState::New)
    }

    pub(super) fn in_flight(&self) -> usize {
        match &*self.state() {
            SseClientState::Open(session) => session.client().pending_requests.len(),
            SseClientState::New | SseClientState::Closed => 0,
        }
    }

    /// Ends the session and everything that runs in it.
    pub(super) fn close(&self) {
        let ended = std::mem::replace(&mut *self.state(), SseClientState::Closed);
        if let SseClientState::Open(session) = ended {
            self.gateway.sessions.close(&session);
        }
        self.outbox.close();
    }
}

const NOT_INITIALIZED: &str = "the session is not initialized";
