//! Serves a client that sends one message per line: on stdio, or on a connection of the control
//! socket.
//!
//! Requests run concurrently, each in a task, and answers are sent as they become ready. The end of
//! the input means that the client leaves: its calls are cancelled at once. Lists are ready within
//! moments and are still sent.

use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;
use toolgate_transport::TransportError;
use toolgate_transport::chunked_message::OutgoingMessage;
use toolgate_transport::line::{LineReader, LineSender, writer};
use toolgate_wire::{Frame, MessageKind, MessageOrBatch, method};

use crate::GatewayError;
use crate::exchange::{
    Exchange, InFlightRequests, MessageSink, ResponseMode, RpcResponse, listed_kind,
};
use crate::gateway::GatewayState;
use crate::modern::{ClientMeta, MessageEra, ModernRequestContext, VersionHeader};
use crate::peer::ConnectionPeer;
use crate::principal::{ClientIdentity, ClientPrincipal, RequestedProfile};
use crate::rejection::Rejection;
use crate::session::{LegacySession, NOT_INITIALIZED, answer_uninitialized};

/// How long a client may take to read the last lines.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// A handle for sending lines to the client. Only the [`LineClientConnection`] holds a strong reference to
/// the sender, so the writer ends with it, however many handles are left.
struct LineSink(Weak<LineSender>);

impl MessageSink for LineSink {
    fn send(&self, message: OutgoingMessage) {
        if let Some(sender) = self.0.upgrade() {
            // `serve` notices a client that no longer reads.
            let _ = sender.send(message);
        }
    }
}

/// The task that answers a modern request.
#[derive(Clone)]
struct RequestTask {
    handle: AbortHandle,
    /// True if the gateway answers the request without a server: a list or a listen request.
    answered_locally: bool,
}

/// One connected client. It may send messages of a session and modern requests on the same
/// connection.
struct LineClientConnection {
    gateway: Arc<GatewayState>,
    sender: Arc<LineSender>,
    session: Option<Arc<LegacySession>>,
    tasks: JoinSet<()>,
    identity: ClientIdentity,
    /// The client's modern requests.
    modern_requests: Arc<InFlightRequests<RequestTask>>,
}

/// Serves one client. `is_operator` is true for the operator's own command line.
pub(crate) async fn serve<R, W>(
    gateway: Arc<GatewayState>,
    profile: RequestedProfile,
    is_operator: bool,
    (reader, output): (R, W),
    shutdown: impl Future<Output = ()>,
) -> Result<(), GatewayError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (sender, writing) = writer(output);
    let mut writing = tokio::spawn(writing);
    let drain = gateway.options.drain_timeout;
    let mut reader = LineReader::new(reader, gateway.options.body);
    let (principal, number) = ClientPrincipal::new_connection(is_operator);
    let peer = ConnectionPeer::for_lines(number);
    let mut client = LineClientConnection {
        gateway,
        sender: Arc::new(sender),
        session: None,
        tasks: JoinSet::new(),
        identity: ClientIdentity { principal, profile, peer },
        modern_requests: Arc::default(),
    };
    let ended = tokio::select! {
        ended = client.read(&mut reader) => {
            client.cancel_calls();
            ended
        }
        () = shutdown => Ok(()),
        // The client no longer reads its input, so no answer can reach it.
        _ = &mut writing => {
            client.close();
            return Ok(());
        }
    };
    let _ = timeout(drain, client.drain()).await;
    client.close();
    let _ = timeout(FLUSH_TIMEOUT, &mut writing).await;
    writing.abort();
    Ok(ended?)
}

impl LineClientConnection {
    async fn read<R: AsyncRead + Unpin>(
        &mut self,
        reader: &mut LineReader<R>,
    ) -> Result<(), TransportError> {
        loop {
            match reader.next().await {
                Ok(Some(line)) => self.receive(line).await,
                Ok(None) => return Ok(()),
                Err(TransportError::Oversize { limit, head }) => {
                    self.reject(&Rejection::too_large(limit, &head));
                }
                Err(TransportError::NoRoom { reason, head }) => {
                    self.reject(&Rejection::storage_failed(&reason, &head));
                }
                Err(error) => return Err(error),
            }
            while self.tasks.try_join_next().is_some() {}
        }
    }

    async fn receive(&mut self, line: Bytes) {
        let message = match MessageOrBatch::parse(line, &self.gateway.wire_limits()) {
            Ok(message) => message,
            Err(error) => return self.reject(&Rejection::parse_error(&error)),
        };
        let strict = self.gateway.options.strict;
        match (MessageEra::from_message(&message, VersionHeader::None, strict), message) {
            (Err(rejection), _) => self.reject(&rejection),
            (Ok(_), MessageOrBatch::One(frame)) if self.cancel_modern(&frame) => {}
            (Ok(MessageEra::ModernRequest(envelope)), MessageOrBatch::One(frame)) => {
                if let Err(rejection) = self.handle_modern(frame, envelope) {
                    self.reject(&rejection);
                }
            }
            (Ok(MessageEra::ModernNotification), _) => {}
            (Ok(_), message) => self.handle_legacy(message).await,
        }
    }

    /// Handles a message of the session, or the one that opens it.
    async fn handle_legacy(&mut self, message: MessageOrBatch) {
        match (&self.session, message) {
            (Some(session), message) => {
                match session.handle_message(message, ResponseMode::Streaming) {
                    Ok(Some(exchange)) => self.spawn_exchange(exchange),
                    Ok(None) => {}
                    Err(rejection) => self.reject(&rejection),
                }
            }
            (None, MessageOrBatch::Batch(_)) => {
                self.send_response(RpcResponse::invalid(NOT_INITIALIZED));
            }
            (None, MessageOrBatch::One(frame)) if frame.kind() != MessageKind::Request => {}
            (None, MessageOrBatch::One(frame)) if frame.is(method::INITIALIZE) => {
                self.open_session(&frame).await;
            }
            (None, MessageOrBatch::One(frame)) => {
                answer_uninitialized(&frame)
                    .into_iter()
                    .for_each(|reply| self.send_response(reply));
            }
        }
    }

    /// Starts to answer a modern request.
    fn handle_modern(&mut self, request: Frame, envelope: ClientMeta) -> Result<(), Rejection> {
        let modern = &self.gateway.modern;
        let Some(id) = request.id().map(|id| id.to_owned()) else { return Ok(()) };
        let rejected = |reason| Rejection::invalid_request(Some(id.clone()), reason);
        self.modern_requests.check_unused(&id).map_err(rejected)?;
        let client = modern.clients.find_or_create(self.identity.clone(), &envelope, &request)?;
        let method = request.method().unwrap_or_default();
        let answered_locally =
            listed_kind(&method).is_some() || method == method::SUBSCRIPTIONS_LISTEN;
        let (response_mode, peer) = (ResponseMode::Streaming, self.identity.peer.clone());
        let context = ModernRequestContext { client, envelope, response_mode, peer };
        let mut exchange = match modern.handle_request(request, context) {
            Exchange::Answered(reply) => {
                self.send_response(reply);
                return Ok(());
            }
            exchange => exchange,
        };
        let lines = LineSink(Arc::downgrade(&self.sender));
        let (pending, own_id) = (self.modern_requests.clone(), id.clone());
        let run = async move {
            let reply = exchange.run(&lines).await;
            // A client that has its answer may reuse the id.
            pending.remove(&own_id);
            lines.send(reply.into_line());
        };
        // The table is locked meanwhile, so the task is registered before it can end.
        let start = || RequestTask { handle: self.tasks.spawn(run), answered_locally };
        self.modern_requests.insert(id.clone(), start).map_err(rejected)
    }

    /// Returns true if a message cancels a modern request. Such a request gets no answer.
    fn cancel_modern(&self, frame: &Frame) -> bool {
        frame.kind() == MessageKind::Notification
            && frame.request_ref().is_some_and(|id| {
                let cancelled = self.modern_requests.remove(&id.to_owned());
                cancelled.inspect(|task| task.handle.abort()).is_some()
            })
    }

    async fn open_session(&mut self, request: &Frame) {
        // An operator's command needs no instructions, and it has already waited for the server it
        // names.
        if !matches!(self.identity.principal, ClientPrincipal::Operator(_)) {
            self.gateway.gate.await_start().await;
        }
        let sink = Arc::new(LineSink(Arc::downgrade(&self.sender)));
        match self.gateway.open_session(request, &self.identity, sink) {
            Ok((session, reply)) => {
                self.session = Some(session);
                self.send_response(reply);
            }
            Err(reply) => self.send_response(reply),
        }
    }

    fn spawn_exchange(&mut self, mut exchange: Exchange) {
        if let Exchange::Answered(reply) = exchange {
            return self.send_response(reply);
        }
        let lines = LineSink(Arc::downgrade(&self.sender));
        self.tasks.spawn(async move {
            let reply = exchange.run(&lines).await;
            lines.send(reply.into_line());
        });
    }

    fn reject(&self, rejection: &Rejection) {
        self.send_response(rejection.to_response());
    }

    fn send_response(&self, reply: RpcResponse) {
        // `serve` notices a client that no longer reads.
        let _ = self.sender.send(reply.into_line());
    }

    /// Cancels the client's requests to servers. Legacy requests are answered with an error.
    fn cancel_calls(&self) {
        if let Some(session) = &self.session {
            session.cancel_calls();
        }
        let tasks = self.modern_requests.all();
        tasks.iter().filter(|task| !task.answered_locally).for_each(|task| task.handle.abort());
    }

    /// Waits until no request is in flight. Input is no longer read, so open questions are
    /// cancelled.
    async fn drain(&mut self) {
        if let Some(session) = &self.session {
            session.client.questions.close();
        }
        let own = &self.identity.principal;
        self.gateway.modern.subscribers.end(|principal| principal == own);
        while self.tasks.join_next().await.is_some() {}
    }

    /// Ends the session.
    fn close(mut self) {
        if let Some(session) = self.session.take() {
            self.gateway.sessions.close(&session);
        }
        self.tasks.abort_all();
        self.gateway.modern.forget_principals(|principal| *principal == self.identity.principal);
    }
}
