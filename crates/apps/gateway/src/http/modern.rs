//! Modern requests over HTTP: the response is plain JSON, or a stream if a message precedes the
//! answer.
//!
//! The connection polls the response and with it the request. A client that disconnects cancels its
//! request. So events have no ids, and a client cannot resume a stream.

use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{Response, StatusCode};
use toolgate_transport::chunked_message::OutgoingMessage;
use toolgate_transport::sse;
use toolgate_wire::{Frame, method};

use super::header_match;
use super::headers::AcceptHeader;
use super::post::{HttpRequestContext, first_step};
use super::response_body::ResponseBody;
use super::responses::{event_stream, json, status_of, with_status};
use super::server::HttpServer;
use super::stream::{EventSource, EventStreamBody, KeepAliveTiming};
use crate::exchange::{Exchange, ExchangeOutput};
use crate::modern::{ClientMeta, ModernRequestContext};
use crate::rejection::Rejection;

impl HttpServer {
    /// Answers a modern request, if its headers agree with its body.
    pub(crate) async fn handle_modern(
        &self,
        request: Frame,
        envelope: ClientMeta,
        HttpRequestContext { headers, identity, accept, connection }: HttpRequestContext<'_>,
    ) -> Result<Response<ResponseBody>, Rejection> {
        if request.is(method::SUBSCRIPTIONS_LISTEN) {
            accept.require_events()?;
        }
        let modern = &self.gateway.modern;
        header_match::check_standard(headers, &request)?;
        let peer = identity.peer.clone();
        let client = modern.clients.find_or_create(identity, &envelope, &request)?;
        header_match::check_arguments(headers, &request, &self.gateway.gate, &client)?;
        let response_mode = accept.response_mode();
        let context = ModernRequestContext { client, envelope, response_mode, peer };
        let mut exchange = modern.handle_request(request, context);
        let patience = self.gateway.options.sse_after;
        let first_message = match first_step(accept, patience, &mut exchange).await {
            // An HTTP error status tells the client more than a stream, even if it prefers streams.
            Some(ExchangeOutput::Response(reply))
                if accept == AcceptHeader::Events && status_of(&reply) == StatusCode::OK =>
            {
                exchange = Exchange::Answered(reply);
                None
            }
            Some(ExchangeOutput::Response(reply)) => {
                let status = status_of(&reply);
                return Ok(with_status(json(reply), status));
            }
            Some(ExchangeOutput::Message(message)) => Some(message),
            None => None,
        };
        let timing = KeepAliveTiming::without_resume(&self.gateway.options);
        let source = ExchangeEventSource { exchange, first_message };
        Ok(event_stream(EventStreamBody::new(source, timing, connection.clone(), None)))
    }
}

/// An exchange as a source of events. Dropping it cancels the request.
struct ExchangeEventSource {
    exchange: Exchange,
    first_message: Option<Bytes>,
}

fn message_event(message: impl Into<OutgoingMessage>) -> OutgoingMessage {
    sse::event("message", None, message.into())
}

impl EventSource for ExchangeEventSource {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<OutgoingMessage>> {
        if let Some(message) = self.first_message.take() {
            return Poll::Ready(Some(message_event(message)));
        }
        if matches!(self.exchange, Exchange::Done) {
            return Poll::Ready(None);
        }
        Poll::Ready(Some(match ready!(self.exchange.poll_step(context)) {
            ExchangeOutput::Message(message) => message_event(message),
            ExchangeOutput::Response(reply) => message_event(reply.into_line()),
        }))
    }
}
