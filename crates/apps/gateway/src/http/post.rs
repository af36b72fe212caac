//! POST: handles a client's message and sends its answer.
//!
//! The body decides which era the message belongs to; modern messages go to `modern`. In the legacy
//! era, an answer that comes first is a plain JSON body, awaited in the connection's own task. If a
//! message precedes the answer, or the answer takes long, the response becomes an event stream.
//! Then a separate task polls the exchange and fills the stream, whether or not the client reads
//! it. If a client disconnects before there is a stream, it cannot fetch the answer later, and its
//! call is cancelled. A client that leaves its stream has
//! [`Options::resume_timeout`](crate::Options) to resume it.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use hyper::body::Incoming;
use tokio::time::{Sleep, sleep};
use toolgate_transport::chunked_message::ChunkedMessage;
use toolgate_wire::{Frame, MessageKind, MessageOrBatch, method};

use super::clock::{ConnectionPhase, ConnectionState};
use super::event_log::SessionEventLog;
use super::headers::{
    AcceptHeader, SESSION_ID, check_legacy_version, require_json_body, version_header,
};
use super::modern::ModernHttpRequest;
use super::response_body::ResponseBody;
use super::responses::{HttpRejection, bad_request, empty, event_stream, json, with_status};
use super::server::{HttpServer, missing_session};
use super::sessions::{HttpSession, OpenSessionError};
use super::stream::{EventStreamBody, KeepAliveTiming};
use crate::modern::MessageEra;
use crate::principal::{ClientIdentity, RequestedProfile};
use crate::session::{
    ExchangeStep, InitializeOutcome, LegacyExchange, MessageSink, RpcResponse, run_exchange,
};

/// The sender of a message and the form of its answer.
struct HttpRequestContext<'a> {
    identity: ClientIdentity,
    accept: AcceptHeader,
    connection: &'a Arc<ConnectionState>,
}

impl HttpServer {
    /// Handles a posted message.
    pub(crate) async fn post(
        &self,
        request: Request<Incoming>,
        profile: RequestedProfile,
        connection: &Arc<ConnectionState>,
    ) -> Result<Response<ResponseBody>, HttpRejection> {
        let (head, body) = request.into_parts();
        require_json_body(&head.headers)?;
        let accept = AcceptHeader::parse(&head.headers)?;
        let identity = self.client_identity(&head.headers, profile, connection)?;
        let options = &self.gateway.options;
        connection.set_phase(ConnectionPhase::Body);
        let bytes = self.read_body(body, &identity).await?;
        connection.set_phase(ConnectionPhase::Serving);
        let message = self.gateway.modern.parse(bytes, &self.gateway.wire_limits());
        let message = message.map_err(|error| HttpRejection::parse_error(&error))?;
        match (
            MessageEra::from_message(&message, version_header(&head.headers), options.strict),
            message,
        ) {
            (Err(error), _) => Ok(bad_request(error)),
            (Ok(MessageEra::ModernNotification), _) => Ok(empty(StatusCode::ACCEPTED)),
            (Ok(MessageEra::ModernRequest(envelope)), MessageOrBatch::One(frame)) => {
                let modern_request = ModernHttpRequest { frame, envelope, accept, identity };
                self.handle_modern(modern_request, &head.headers, connection).await
            }
            (Ok(_), message) => {
                self.handle_legacy(
                    message,
                    &head.headers,
                    HttpRequestContext { identity, accept, connection },
                )
                .await
            }
        }
    }

    /// Handles a message of a session, or one that opens a session.
    async fn handle_legacy(
        &self,
        message: MessageOrBatch,
        headers: &HeaderMap,
        context: HttpRequestContext<'_>,
    ) -> Result<Response<ResponseBody>, HttpRejection> {
        check_legacy_version(headers)?;
        let Some(client) = self.find_session(headers, &context.identity)? else {
            return match message {
                MessageOrBatch::One(frame) if is_initialize(&frame) => {
                    self.open_session(&frame, context).await
                }
                _ => Err(missing_session()),
            };
        };
        let HttpRequestContext { accept, connection, .. } = context;
        Ok(match start_exchange(&client, message, accept) {
            Ok(Some(exchange)) => self.answer_request(&client, exchange, accept, connection).await,
            Ok(None) => empty(StatusCode::ACCEPTED),
            Err(reply) => with_status(json(reply), StatusCode::BAD_REQUEST),
        })
    }

    /// Opens a session.
    async fn open_session(
        &self,
        request: &Frame,
        context: HttpRequestContext<'_>,
    ) -> Result<Response<ResponseBody>, HttpRejection> {
        let HttpRequestContext { identity, accept, connection } = context;
        self.gateway.await_start().await;
        let key = self
            .sessions
            .reserve_id(&identity.peer_id())
            .map_err(|reason| session_rejected(&reason))?;
        let log = Arc::new(SessionEventLog::new());
        let (session, reply) = match self.gateway.open_session(request, &identity, log.clone()) {
            InitializeOutcome::Session(session, reply) => (session, reply),
            InitializeOutcome::Refused(reply) => return Ok(json(reply)),
        };
        let client = self.sessions.insert(key, HttpSession::new(session, log, identity));
        let mut response = match accept {
            AcceptHeader::Both | AcceptHeader::Json => json(reply),
            AcceptHeader::Events => {
                self.answer_with_stream(&client, LegacyExchange::Answered(reply), None, connection)
            }
        };
        if let Ok(id) = HeaderValue::try_from(key.to_string()) {
            response.headers_mut().insert(SESSION_ID, id);
        }
        Ok(response)
    }

    /// Answers a request with JSON or, if it takes long or sends messages first, with a stream.
    async fn answer_request(
        &self,
        client: &HttpSession,
        mut exchange: LegacyExchange,
        accept: AcceptHeader,
        connection: &Arc<ConnectionState>,
    ) -> Response<ResponseBody> {
        if accept == AcceptHeader::Events {
            return self.answer_with_stream(client, exchange, None, connection);
        }
        let patience = self.gateway.options.sse_after;
        let first_message =
            match first_step(accept, patience, |task| exchange.poll_step(task)).await {
                FirstStep::Step(ExchangeStep::Response(reply)) => return json(reply),
                FirstStep::Step(ExchangeStep::Message(message)) => Some(message),
                FirstStep::TimedOut => None,
            };
        self.answer_with_stream(client, exchange, first_message, connection)
    }

    /// Answers with a stream that begins with the given message.
    fn answer_with_stream(
        &self,
        client: &HttpSession,
        mut exchange: LegacyExchange,
        first_message: Option<Bytes>,
        connection: &Arc<ConnectionState>,
    ) -> Response<ResponseBody> {
        let stream = RequestStreamGuard { log: client.log.clone(), stream: client.log.open() };
        if let Some(message) = first_message {
            stream.send(message);
        }
        let reader = client.log.attach(stream.stream, None);
        let abandoned = client.log.wait_abandoned(
            stream.stream,
            self.gateway.options.resume_timeout,
            client.peer.clone(),
        );
        tokio::spawn(async move {
            tokio::select! {
                biased;
                reply = run_exchange(|context| exchange.poll_step(context), &stream) => stream.send_response(reply),
                // Dropping the exchange cancels the call.
                () = abandoned => {
                    tracing::debug!(target: "toolgate::gateway", "cancelled an abandoned call");
                }
            }
        });
        let timing = KeepAliveTiming::for_request(&self.gateway.options, client.session.revision());
        event_stream(EventStreamBody::new(reader, timing, connection.clone()))
    }
}

/// Passes a message to its session. Returns `None` if the message needs no answer, and an error if
/// the session cannot take such a message.
fn start_exchange(
    client: &HttpSession,
    message: MessageOrBatch,
    accept: AcceptHeader,
) -> Result<Option<LegacyExchange>, RpcResponse> {
    match message {
        MessageOrBatch::One(frame) if frame.kind() == MessageKind::Request => {
            Ok(Some(client.session.handle_request(frame, accept.response_mode())))
        }
        MessageOrBatch::One(frame) => {
            client.session.handle_one_way(frame);
            Ok(None)
        }
        MessageOrBatch::Batch(messages) => {
            client.session.handle_batch(messages, accept.response_mode())
        }
    }
}

fn is_initialize(frame: &Frame) -> bool {
    frame.kind() == MessageKind::Request && frame.is(method::INITIALIZE)
}

pub(super) fn session_rejected(reason: &OpenSessionError) -> HttpRejection {
    tracing::warn!(target: "toolgate::gateway", %reason, "cannot open a session");
    HttpRejection::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "no session can be opened now; try again later",
    )
}

/// The first thing that happens in an exchange.
pub(crate) enum FirstStep {
    /// The exchange produced a step.
    Step(ExchangeStep),
    /// The exchange produced nothing within the time limit.
    TimedOut,
}

/// Waits for the first step of an exchange. If the client accepts streams, this stops waiting after
/// `patience`.
pub(crate) async fn first_step(
    accept: AcceptHeader,
    patience: Duration,
    mut poll_step: impl FnMut(&mut Context<'_>) -> Poll<ExchangeStep>,
) -> FirstStep {
    let mut late = pin!(None::<Sleep>);
    poll_fn(|context| {
        if let Poll::Ready(step) = poll_step(context) {
            return Poll::Ready(FirstStep::Step(step));
        }
        if accept == AcceptHeader::Json {
            return Poll::Pending;
        }
        if late.is_none() {
            late.set(Some(sleep(patience)));
        }
        match late.as_mut().as_pin_mut().map(|late| late.poll(context)) {
            Some(Poll::Ready(())) => Poll::Ready(FirstStep::TimedOut),
            _ => Poll::Pending,
        }
    })
    .await
}

/// The stream of one request. Dropping it finishes the stream.
struct RequestStreamGuard {
    log: Arc<SessionEventLog>,
    stream: u64,
}

impl MessageSink for RequestStreamGuard {
    fn send(&self, message: Bytes) {
        self.log.push(self.stream, &message);
    }

    fn send_large(&self, message: ChunkedMessage) {
        self.log.push_large(self.stream, message);
    }
}

impl Drop for RequestStreamGuard {
    fn drop(&mut self) {
        self.log.finish(self.stream);
    }
}
