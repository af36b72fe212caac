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
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use hyper::body::Incoming;
use tokio::time::sleep;
use toolgate_transport::chunked_message::OutgoingMessage;
use toolgate_wire::{Frame, MessageKind, MessageOrBatch, method};

use super::clock::{HttpConnectionPhase, HttpConnectionState};
use super::event_log::SessionEventLog;
use super::headers::{
    AcceptHeader, SESSION_ID, check_legacy_version, require_json_body, version_header,
};
use super::response_body::ResponseBody;
use super::responses::{empty, event_stream, json};
use super::server::{HttpServer, missing_session};
use super::sessions::HttpSession;
use super::stream::{EventStreamBody, KeepAliveTiming};
use crate::exchange::{Exchange, ExchangeOutput, MessageSink};
use crate::modern::MessageEra;
use crate::principal::{ClientIdentity, RequestedProfile};
use crate::rejection::Rejection;

/// The sender of a message and the form of its answer.
pub(crate) struct HttpRequestContext<'a> {
    pub(crate) headers: &'a HeaderMap,
    pub(crate) identity: ClientIdentity,
    pub(crate) accept: AcceptHeader,
    pub(crate) connection: &'a Arc<HttpConnectionState>,
}

impl HttpServer {
    /// Handles a posted message.
    pub(crate) async fn post(
        &self,
        request: Request<Incoming>,
        profile: RequestedProfile,
        connection: &Arc<HttpConnectionState>,
    ) -> Result<Response<ResponseBody>, Rejection> {
        let (head, body) = request.into_parts();
        let headers = &head.headers;
        require_json_body(headers)?;
        let accept = AcceptHeader::parse(headers)?;
        let identity = self.client_identity(headers, profile, connection)?;
        let options = &self.gateway.options;
        connection.set_phase(HttpConnectionPhase::Body);
        let bytes = self.read_body(body, &identity).await?;
        connection.set_phase(HttpConnectionPhase::Serving);
        let envelopes = &self.gateway.modern.envelope_cache;
        let message = envelopes.parse(bytes, &self.gateway.wire_limits());
        let message = message.map_err(|error| Rejection::parse_error(&error))?;
        let era = MessageEra::from_message(&message, version_header(headers), options.strict)?;
        let context = HttpRequestContext { headers, identity, accept, connection };
        match (era, message) {
            (MessageEra::ModernNotification, _) => Ok(empty(StatusCode::ACCEPTED)),
            (MessageEra::ModernRequest(envelope), MessageOrBatch::One(frame)) => {
                self.handle_modern(frame, envelope, context).await
            }
            (_, message) => self.handle_legacy(message, context).await,
        }
    }

    /// Handles a message of a session, or one that opens a session.
    async fn handle_legacy(
        &self,
        message: MessageOrBatch,
        context: HttpRequestContext<'_>,
    ) -> Result<Response<ResponseBody>, Rejection> {
        check_legacy_version(context.headers)?;
        let Some(client) = self.find_session(context.headers, &context.identity)? else {
            return match message {
                MessageOrBatch::One(frame)
                    if frame.kind() == MessageKind::Request && frame.is(method::INITIALIZE) =>
                {
                    self.open_session(&frame, context).await
                }
                _ => Err(missing_session()),
            };
        };
        let HttpRequestContext { accept, connection, .. } = context;
        Ok(match client.session.handle_message(message, accept.response_mode())? {
            Some(exchange) => self.answer_request(&client, exchange, accept, connection).await,
            None => empty(StatusCode::ACCEPTED),
        })
    }

    /// Opens a session.
    async fn open_session(
        &self,
        request: &Frame,
        context: HttpRequestContext<'_>,
    ) -> Result<Response<ResponseBody>, Rejection> {
        let HttpRequestContext { identity, accept, connection, .. } = context;
        // Clients get the servers' instructions only in this answer.
        self.gateway.gate.await_start().await;
        let key = self.sessions.reserve_id(&identity.peer_id())?;
        let log = Arc::new(SessionEventLog::new());
        let (session, reply) = match self.gateway.open_session(request, &identity, log.clone()) {
            Ok(opened) => opened,
            Err(reply) => return Ok(json(reply)),
        };
        let client = self.sessions.insert(key, HttpSession::new(session, log, identity));
        let mut response = match accept {
            AcceptHeader::Both | AcceptHeader::Json => json(reply),
            AcceptHeader::Events => {
                self.answer_with_stream(&client, Exchange::Answered(reply), None, connection)
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
        mut exchange: Exchange,
        accept: AcceptHeader,
        connection: &Arc<HttpConnectionState>,
    ) -> Response<ResponseBody> {
        if accept == AcceptHeader::Events {
            return self.answer_with_stream(client, exchange, None, connection);
        }
        let patience = self.gateway.options.sse_after;
        let first_message = match first_step(accept, patience, &mut exchange).await {
            Some(ExchangeOutput::Response(reply)) => return json(reply),
            Some(ExchangeOutput::Message(message)) => Some(message),
            None => None,
        };
        self.answer_with_stream(client, exchange, first_message, connection)
    }

    /// Answers with a stream that begins with the given message.
    fn answer_with_stream(
        &self,
        client: &HttpSession,
        mut exchange: Exchange,
        first_message: Option<Bytes>,
        connection: &Arc<HttpConnectionState>,
    ) -> Response<ResponseBody> {
        let stream = RequestStreamGuard { log: client.log.clone(), stream: client.log.open() };
        if let Some(message) = first_message {
            stream.send(message.into());
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
                reply = exchange.run(&stream) => stream.send(reply.into_line()),
                // Dropping the exchange cancels the call.
                () = abandoned => {
                    tracing::debug!(target: "toolgate::gateway", "cancelled an abandoned call");
                }
            }
        });
        let timing =
            KeepAliveTiming::for_request(&self.gateway.options, client.session.caller.revision);
        event_stream(EventStreamBody::new(reader, timing, connection.clone(), None))
    }
}

/// Waits for the first step of an exchange. If the client accepts streams, this stops waiting after
/// `patience` and returns `None`.
pub(crate) async fn first_step(
    accept: AcceptHeader,
    patience: Duration,
    exchange: &mut Exchange,
) -> Option<ExchangeOutput> {
    tokio::select! {
        biased;
        step = poll_fn(|context| exchange.poll_step(context)) => Some(step),
        // The block creates the timer only if the first step is not ready at once.
        () = async { sleep(patience).await }, if accept != AcceptHeader::Json => None,
    }
}

/// The stream of one request. Dropping it finishes the stream.
struct RequestStreamGuard {
    log: Arc<SessionEventLog>,
    stream: u64,
}

impl MessageSink for RequestStreamGuard {
    fn send(&self, message: OutgoingMessage) {
        self.log.push(self.stream, message);
    }
}

impl Drop for RequestStreamGuard {
    fn drop(&mut self) {
        self.log.finish(self.stream);
    }
}
