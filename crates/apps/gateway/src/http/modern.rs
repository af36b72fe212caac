//! Modern requests over HTTP: the response is plain JSON, or a stream if a message precedes the
//! answer.
//!
//! The connection polls the response and with it the request. A client that disconnects cancels its
//! request. So events have no ids, and a client cannot resume a stream.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use toolgate_transport::chunked_message::ChunkedMessage;
use toolgate_transport::sse;
use toolgate_wire::{Frame, method};

use super::clock::ConnectionState;
use super::header_match;
use super::headers::AcceptHeader;
use super::post::{FirstStep, first_step};
use super::response_body::ResponseBody;
use super::responses::{HttpRejection, bad_request, event_stream, json_with_status, status_of};
use super::server::HttpServer;
use super::stream::{self, EventSource, EventStreamBody, KeepAliveTiming};
use crate::modern::{ModernExchange, ModernRequestContext, RequestEnvelope, RequestError};
use crate::principal::ClientIdentity;
use crate::session::{ExchangeStep, ResponseContent};

/// A modern request with its envelope and its sender.
pub(crate) struct ModernHttpRequest {
    pub(crate) frame: Frame,
    pub(crate) envelope: RequestEnvelope,
    pub(crate) accept: AcceptHeader,
    pub(crate) identity: ClientIdentity,
}

impl HttpServer {
    /// Answers a modern request.
    pub(crate) async fn handle_modern(
        &self,
        request: ModernHttpRequest,
        headers: &HeaderMap,
        connection: &Arc<ConnectionState>,
    ) -> Result<Response<ResponseBody>, HttpRejection> {
        let accept = request.accept;
        if request.frame.is(method::SUBSCRIPTIONS_LISTEN) {
            accept.require_events()?;
        }
        let mut exchange = match self.start_modern_exchange(request, headers) {
            Ok(exchange) => exchange,
            Err(error) => return Ok(bad_request(error)),
        };
        let patience = self.gateway.options.sse_after;
        let first_message = match first_step(accept, patience, |task| exchange.poll_step(task))
            .await
        {
            // An HTTP error status tells the client more than a stream, even if it prefers streams.
            FirstStep::Step(ExchangeStep::Response(reply))
                if accept == AcceptHeader::Events && status_of(&reply) == StatusCode::OK =>
            {
                exchange = ModernExchange::Answered(reply);
                None
            }
            FirstStep::Step(ExchangeStep::Response(reply)) => return Ok(json_with_status(reply)),
            FirstStep::Step(ExchangeStep::Message(message)) => Some(message),
            FirstStep::TimedOut => None,
        };
        Ok(self.stream_modern(exchange, first_message, connection))
    }

    /// Starts to answer a request after checking that its headers agree with its body.
    fn start_modern_exchange(
        &self,
        request: ModernHttpRequest,
        headers: &HeaderMap,
    ) -> Result<ModernExchange, RequestError> {
        let ModernHttpRequest { frame, envelope, accept, identity } = request;
        let modern = &self.gateway.modern;
        header_match::check_standard(headers, &frame)?;
        let peer = identity.peer.clone();
        let client = modern.find_client(identity, &envelope, &frame)?;
        header_match::check_arguments(headers, &frame, self.gateway.gate(), &client)?;
        Ok(modern.handle_request(
            frame,
            ModernRequestContext { client, envelope, response_mode: accept.response_mode(), peer },
        ))
    }

    fn stream_modern(
        &self,
        exchange: ModernExchange,
        first_message: Option<Bytes>,
        connection: &Arc<ConnectionState>,
    ) -> Response<ResponseBody> {
        let timing = KeepAliveTiming::without_resume(&self.gateway.options);
        let source =
            ExchangeEventSource { exchange, first_message, large_answer: None, finished: false };
        event_stream(EventStreamBody::new(source, timing, connection.clone()))
    }
}

/// An exchange as a source of events. Dropping it cancels the request.
struct ExchangeEventSource {
    exchange: ModernExchange,
    /// The message that was sent before the response became a stream.
    first_message: Option<Bytes>,
    /// A large answer that is partly sent.
    large_answer: Option<Box<ChunkedMessage>>,
    finished: bool,
}

impl EventSource for ExchangeEventSource {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(first_message) = self.first_message.take() {
            return Poll::Ready(Some(sse::named_event("message", &first_message)));
        }
        if let Some(answer) = &mut self.large_answer {
            return Poll::Ready(stream::next_chunk(answer));
        }
        if self.finished {
            return Poll::Ready(None);
        }
        let reply = match ready!(self.exchange.poll_step(context)) {
            ExchangeStep::Message(message) => {
                return Poll::Ready(Some(sse::named_event("message", &message)));
            }
            ExchangeStep::Response(reply) => reply,
        };
        self.finished = true;
        Poll::Ready(match reply.into_line() {
            ResponseContent::Small(message) => Some(sse::named_event("message", &message)),
            ResponseContent::Large(message) => {
                let answer = sse::large_named_event("message", message);
                stream::next_chunk(self.large_answer.insert(Box::new(answer)))
            }
        })
    }

    fn position(&self) -> Option<String> {
        None
    }
}
