//! `/sse` and `/messages`: HTTP+SSE, the transport of 2024-11-05, for clients that support no
//! other.
//!
//! GET `/sse`, or `/sse/<profile>`, opens a stream. Its first event names the path for POST
//! requests. All messages to the client go onto that stream, including answers. A session begins
//! with `initialize` and ends with its stream: a client cannot resume it, and its calls are
//! cancelled. The meaning of messages is left to `session`.

mod client;
mod clients;
mod outbox;

use std::sync::Arc;

use http::{HeaderMap, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use toolgate_wire::{MessageOrBatch, Revision};

use super::clock::{HttpConnectionPhase, HttpConnectionState};
use super::headers::{AcceptHeader, require_json_body, version_header};
use super::response_body::ResponseBody;
use super::responses::{empty, event_stream, rejected};
use super::server::{HttpServer, unknown_session, wrong_method};
use super::stream::{EventStreamBody, KeepAliveTiming};
use crate::modern::{MessageEra, VersionHeader};
use crate::principal::RequestedProfile;
use crate::rejection::Rejection;

pub(crate) use clients::SseClients;

/// The path for opening streams.
pub(crate) const STREAM_PATH: &str = "/sse";
/// The path for posting messages.
pub(crate) const MESSAGES_PATH: &str = "/messages";

impl HttpServer {
    /// Answers a request to one of the two paths.
    pub(crate) async fn handle_sse(
        &self,
        request: Request<Incoming>,
        profile: RequestedProfile,
        connection: &Arc<HttpConnectionState>,
    ) -> Response<ResponseBody> {
        let (is_stream, method) = (request.uri().path() != MESSAGES_PATH, request.method());
        let allowed = if is_stream { Method::GET } else { Method::POST };
        let response = match *method == allowed {
            false => Err(wrong_method()),
            true if is_stream => self.open_sse(request.headers(), profile, connection),
            true => self.post_sse(request, connection).await,
        };
        let allowed = if is_stream { "GET" } else { "POST" };
        response.unwrap_or_else(|refused| rejected(&refused, allowed))
    }

    /// Opens a stream. Its first event tells the client where to post.
    fn open_sse(
        &self,
        headers: &HeaderMap,
        profile: RequestedProfile,
        connection: &Arc<HttpConnectionState>,
    ) -> Result<Response<ResponseBody>, Rejection> {
        AcceptHeader::parse(headers)?.require_events()?;
        let identity = self.client_identity(headers, profile, connection)?;
        let quota = self.acquire_stream(&identity)?;
        let stream = self.sse_clients.insert(self.gateway.clone(), identity, connection.clone())?;
        let timing = KeepAliveTiming::without_resume(&self.gateway.options);
        Ok(event_stream(EventStreamBody::new(stream, timing, connection.clone(), Some(quota))))
    }

    /// Handles a posted message. Its answer goes onto the stream.
    async fn post_sse(
        &self,
        request: Request<Incoming>,
        connection: &Arc<HttpConnectionState>,
    ) -> Result<Response<ResponseBody>, Rejection> {
        require_json_body(request.headers())?;
        let (head, body) = request.into_parts();
        let id = head.uri.query().and_then(session_param).ok_or_else(unknown_session)?;
        let identity = self.client_identity(&head.headers, None, connection)?;
        let client = self.sse_clients.find(id, &identity.principal).ok_or_else(unknown_session)?;
        let options = &self.gateway.options;
        connection.set_phase(HttpConnectionPhase::Body);
        let bytes = self.read_body(body, &identity).await?;
        connection.set_phase(HttpConnectionPhase::Serving);
        let message = MessageOrBatch::parse(bytes, &self.gateway.wire_limits())
            .map_err(|error| Rejection::parse_error(&error))?;
        require_legacy(&message, version_header(&head.headers), options.strict)?;
        self.gateway.gate.await_start().await;
        client.handle_message(message).map(|()| empty(StatusCode::ACCEPTED))
    }
}

/// Rejects modern messages, which have no session.
fn require_legacy(
    message: &MessageOrBatch,
    version: VersionHeader<'_>,
    strict: Option<Revision>,
) -> Result<(), Rejection> {
    let id = match (MessageEra::from_message(message, version, strict)?, message) {
        (MessageEra::Legacy, _) => return Ok(()),
        (_, MessageOrBatch::One(frame)) => frame.id().map(|id| id.to_owned()),
        (_, MessageOrBatch::Batch(_)) => None,
    };
    Err(Rejection::invalid_request(id, "messages of 2026-07-28 must be posted to /mcp"))
}

/// Returns the session id in a query string.
fn session_param(query: &str) -> Option<&str> {
    query.split('&').find_map(|pair| pair.strip_prefix("session="))
}
