//! Serves a client that sends one message per line: on stdio, or on a connection of the control
//! socket.
//!
//! Requests run concurrently, each in a task, and answers are sent as they become ready. The end of
//! the input means that the client leaves: its calls are cancelled at once. Lists are ready within
//! moments and are still sent.

mod pending_requests;

use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio::time::timeout;
use toolgate_transport::TransportError;
use toolgate_transport::chunked_message::ChunkedMessage;
use toolgate_transport::line::{LineReader, LineSender, writer};
use toolgate_wire::{
    Frame, MessageKind, MessageOrBatch, OwnedRequestId, WireError, WireErrorKind, build, code,
    method,
};

use crate::GatewayError;
use crate::gateway::GatewayState;
use crate::modern::{self, MessageEra, ModernRequestContext, RequestEnvelope, VersionHeader};
use crate::peer::ConnectionPeer;
use crate::principal::{ClientIdentity, ClientPrincipal, RequestedProfile};
use crate::session::{
    InitializeOutcome, LegacyExchange, LegacySession, MessageSink, ResponseContent, ResponseMode,
    RpcResponse, listed_kind, run_exchange,
};
use pending_requests::{ModernPendingRequests, StartedRequest};

/// How long a client may take to read the last lines.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// A handle for sending lines to the client. Only the [`LineClient`] holds a strong reference to
/// the sender, so the writer ends with it, however many handles are left.
struct LineSink(Weak<LineSender>);

impl MessageSink for LineSink {
    fn send(&self, message: Bytes) {
        if let Some(sender) = self.0.upgrade() {
            // `serve` notices a client that no longer reads.
            let _ = sender.send(message);
        }
    }

    fn send_large(&self, message: ChunkedMessage) {
        if let Some(sender) = self.0.upgrade() {
            let _ = sender.send_large(message);
        }
    }
}

/// One connected client. It may send messages of a session and modern requests on the same
/// connection.
struct LineClient {
    gateway: Arc<GatewayState>,
    sender: Arc<LineSender>,
    session: Option<Arc<LegacySession>>,
    tasks: JoinSet<()>,
    principal: ClientPrincipal,
    peer: Arc<ConnectionPeer>,
    profile: RequestedProfile,
    /// The client's modern requests.
    modern_requests: Arc<ModernPendingRequests>,
}

/// The settings of one client.
pub(crate) struct LineClientOptions {
    pub(crate) profile: RequestedProfile,
    /// True for the operator's own command line.
    pub(crate) is_operator: bool,
}

pub(crate) async fn serve<R, W>(
    gateway: Arc<GatewayState>,
    LineClientOptions { profile, is_operator }: LineClientOptions,
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
    let principal = ClientPrincipal::new_connection(is_operator);
    let mut client = LineClient {
        gateway,
        sender: Arc::new(sender),
        session: None,
        tasks: JoinSet::new(),
        peer: ConnectionPeer::for_lines(principal.line_connection().unwrap_or_default()),
        principal,
        profile,
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

impl LineClient {
    async fn read<R: AsyncRead + Unpin>(
        &mut self,
        reader: &mut LineReader<R>,
    ) -> Result<(), TransportError> {
        loop {
            match reader.next().await {
                Ok(Some(line)) => self.receive(line).await,
                Ok(None) => return Ok(()),
                Err(TransportError::Oversize { limit, head }) => {
                    let message = format!("message is larger than the limit of {limit} bytes");
                    self.reject_unread(WireErrorKind::TooLarge.code(), &message, &head);
                }
                Err(TransportError::NoRoom { reason, head }) => {
                    let message = format!("cannot store the message: {reason}");
                    self.reject_unread(code::INTERNAL_ERROR, &message, &head);
                }
                Err(error) => return Err(error),
            }
            while self.tasks.try_join_next().is_some() {}
        }
    }

    async fn receive(&mut self, line: Bytes) {
        let message = match MessageOrBatch::parse(line, &self.gateway.wire_limits()) {
            Ok(message) => message,
            Err(error) => return self.send_response(RpcResponse::parse_error(&error)),
        };
        match (
            MessageEra::from_message(&message, VersionHeader::None, self.gateway.options.strict),
            message,
        ) {
            (Err(error), _) => self.send_response(error.into_response()),
            (Ok(_), MessageOrBatch::One(frame)) if self.cancel_modern(&frame) => {}
            (Ok(MessageEra::ModernRequest(envelope)), MessageOrBatch::One(frame)) => {
                self.handle_modern(frame, envelope)
            }
            (Ok(MessageEra::ModernNotification), _) => {}
            (Ok(_), MessageOrBatch::One(frame)) => self.handle_session_message(frame).await,
            (Ok(_), MessageOrBatch::Batch(messages)) => self.handle_batch(messages),
        }
    }

    /// Handles a message of the session, or the one that opens it.
    async fn handle_session_message(&mut self, frame: Frame) {
        match &self.session {
            _ if frame.kind() == MessageKind::Request => self.handle_request(frame).await,
            Some(session) => session.handle_one_way(frame),
            None => {}
        }
    }

    /// Starts to answer a modern request.
    fn handle_modern(&mut self, request: Frame, envelope: RequestEnvelope) {
        let modern = &self.gateway.modern;
        let Some(id) = request.id().map(|id| id.to_owned()) else { return };
        if let Some(reason) = self.modern_requests.rejection_reason(&id) {
            return self.send_response(RpcResponse::failure(&id, code::INVALID_REQUEST, reason));
        }
        let peer = self.peer.clone();
        let method = request.method().unwrap_or_default();
        let answered_locally =
            listed_kind(&method).is_some() || method == method::SUBSCRIPTIONS_LISTEN;
        let identity = self.identity();
        let client = match modern.find_client(identity, &envelope, &request) {
            Ok(client) => client,
            Err(error) => return self.send_response(error.into_response()),
        };
        let context =
            ModernRequestContext { client, envelope, response_mode: ResponseMode::Streaming, peer };
        let exchange = match modern.handle_request(request, context) {
            modern::ModernExchange::Answered(reply) => return self.send_response(reply),
            exchange => exchange,
        };
        let lines = LineSink(Arc::downgrade(&self.sender));
        self.modern_requests.spawn(
            StartedRequest { id, answered_locally, exchange },
            &mut self.tasks,
            lines,
        );
    }

    /// Returns true if a message cancels a modern request. Such a request gets no answer.
    fn cancel_modern(&self, frame: &Frame) -> bool {
        frame.kind() == MessageKind::Notification
            && frame.request_ref().is_some_and(|id| self.modern_requests.cancel(id))
    }

    async fn handle_request(&mut self, request: Frame) {
        match &self.session {
            Some(session) => {
                let exchange = session.handle_request(request, ResponseMode::Streaming);
                self.spawn_exchange(exchange);
            }
            None if request.is(method::INITIALIZE) => self.open_session(&request).await,
            None => self.answer_uninitialized(&request),
        }
    }

    async fn open_session(&mut self, request: &Frame) {
        // An operator's command needs no instructions, and it has already waited for the server it
        // names.
        if !matches!(self.principal, ClientPrincipal::Operator(_)) {
            self.gateway.await_start().await;
        }
        let sink = Arc::new(LineSink(Arc::downgrade(&self.sender)));
        match self.gateway.open_session(request, &self.identity(), sink) {
            InitializeOutcome::Session(session, reply) => {
                self.session = Some(session);
                self.send_response(reply);
            }
            InitializeOutcome::Refused(reply) => self.send_response(reply),
        }
    }

    /// Answers a request before `initialize`. Only `ping` succeeds.
    fn answer_uninitialized(&self, request: &Frame) {
        let Some(id) = request.id().map(|id| id.to_owned()) else { return };
        self.send_response(if request.is(method::PING) {
            RpcResponse::result(&id, b"{}")
        } else {
            RpcResponse::failure(&id, code::INVALID_REQUEST, "the session is not initialized")
        });
    }

    fn handle_batch(&mut self, messages: Vec<Result<Frame, WireError>>) {
        let Some(session) = &self.session else {
            let error = "the session is not initialized";
            return self.send_response(RpcResponse::from_message(build::error_response(
                None,
                code::INVALID_REQUEST,
                error,
                None,
            )));
        };
        match session.handle_batch(messages, ResponseMode::Streaming) {
            Ok(Some(exchange)) => self.spawn_exchange(exchange),
            Ok(None) => {}
            Err(reply) => self.send_response(reply),
        }
    }

    fn spawn_exchange(&mut self, mut exchange: LegacyExchange) {
        if let LegacyExchange::Answered(reply) = exchange {
            return self.send_response(reply);
        }
        let lines = LineSink(Arc::downgrade(&self.sender));
        self.tasks.spawn(async move {
            let reply = run_exchange(|context| exchange.poll_step(context), &lines).await;
            lines.send_response(reply);
        });
    }

    /// Rejects a message that was not read. The id comes from its first bytes.
    fn reject_unread(&self, code: i32, message: &str, head: &[u8]) {
        let id = Frame::peek_id(head);
        let id = id.as_ref().map(OwnedRequestId::raw);
        self.send_response(RpcResponse::from_message(build::error_response(
            id, code, message, None,
        )));
    }

    fn identity(&self) -> ClientIdentity {
        let (principal, profile) = (self.principal.clone(), self.profile.clone());
        ClientIdentity { principal, profile, peer: self.peer.clone() }
    }

    fn send_response(&self, reply: RpcResponse) {
        // `serve` notices a client that no longer reads.
        let _ = match reply.into_line() {
            ResponseContent::Small(line) => self.sender.send(line),
            ResponseContent::Large(line) => self.sender.send_large(line),
        };
    }

    /// Cancels the client's requests to servers. Legacy requests are answered with an error.
    fn cancel_calls(&self) {
        if let Some(session) = &self.session {
            session.client().pending_requests.close();
        }
        self.modern_requests.cancel_calls();
    }

    /// Waits until no request is in flight. Input is no longer read, so open questions are
    /// cancelled.
    async fn drain(&mut self) {
        if let Some(session) = &self.session {
            session.client().questions.close();
        }
        let own = self.principal.clone();
        self.gateway.modern.end_subscriptions(|principal| *principal == own);
        while self.tasks.join_next().await.is_some() {}
    }

    /// Ends the session.
    fn close(mut self) {
        if let Some(session) = self.session.take() {
            self.gateway.sessions.close(&session);
        }
        self.tasks.abort_all();
        self.gateway.modern.forget_principals(|principal| *principal == self.principal);
    }
}
