//! Modern requests over HTTP: an answer that comes first is plain JSON, anything before it makes
//! the response a stream.
//!
//! The response is the request's life: both are polled by the connection, and a client that hangs
//! up has cancelled. So there are no event ids here, and nothing to come back to.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use toolgate_transport::refill::Refill;
use toolgate_transport::sse;
use toolgate_wire::{Frame, method};

use super::answer::{Refused, events, faulty, status, telling};
use super::clock::Pulse;
use super::headers::Accept;
use super::mirror;
use super::payload::Payload;
use super::post::{First, first};
use super::server::Server;
use super::stream::{self, Events, Feed, Pace};
use crate::modern::{Envelope, Exchange, Fault, Visit};
use crate::principal::Comer;
use crate::session::{Step, Written};

/// A modern request as it came.
pub(crate) struct Visited {
    pub(crate) frame: Frame,
    pub(crate) envelope: Envelope,
    pub(crate) accept: Accept,
    pub(crate) comer: Comer,
}

impl Server {
    /// Answers a modern request.
    pub(crate) async fn modern(
        &self,
        visited: Visited,
        headers: &HeaderMap,
        pulse: &Arc<Pulse>,
    ) -> Result<Response<Payload>, Refused> {
        let accept = visited.accept;
        if visited.frame.is(method::SUBSCRIPTIONS_LISTEN) {
            accept.needs_events()?;
        }
        let mut exchange = match self.visit(visited, headers) {
            Ok(exchange) => exchange,
            Err(fault) => return Ok(faulty(fault)),
        };
        let patience = self.hub.options.sse_after;
        let said = match first(accept, patience, |task| exchange.poll_step(task)).await {
            // A status says more than a stream could, even to a client that prefers streams.
            First::Step(Step::Outcome(reply))
                if accept == Accept::Events && status(&reply) == StatusCode::OK =>
            {
                exchange = Exchange::Answered(reply);
                None
            }
            First::Step(Step::Outcome(reply)) => return Ok(telling(reply)),
            First::Step(Step::Said(message)) => Some(message),
            First::Late => None,
        };
        Ok(self.live(exchange, said, pulse))
    }

    /// Begins to answer, once headers and body agree.
    fn visit(&self, visited: Visited, headers: &HeaderMap) -> Result<Exchange, Fault> {
        let Visited { frame, envelope, accept, comer } = visited;
        let modern = &self.hub.modern;
        mirror::standard(headers, &frame)?;
        let peer = comer.peer.clone();
        let visitor = modern.visitor(comer, &envelope, &frame)?;
        mirror::arguments(headers, &frame, self.hub.upstreams(), &visitor)?;
        Ok(modern.request(frame, Visit { visitor, envelope, carriage: accept.carriage(), peer }))
    }

    fn live(
        &self,
        exchange: Exchange,
        said: Option<Bytes>,
        pulse: &Arc<Pulse>,
    ) -> Response<Payload> {
        let pace = Pace::unbroken(&self.hub.options);
        let live = Live { exchange, said, answer: None, over: false };
        events(Events::new(live, pace, pulse.clone()))
    }
}

/// An exchange as a stream. Dropping it cancels the request.
struct Live {
    exchange: Exchange,
    /// What was said before it became a stream.
    said: Option<Bytes>,
    /// A large answer that is being written.
    answer: Option<Box<Refill>>,
    over: bool,
}

impl Feed for Live {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(said) = self.said.take() {
            return Poll::Ready(Some(sse::named("message", &said)));
        }
        if let Some(answer) = &mut self.answer {
            return Poll::Ready(stream::chunk(answer));
        }
        if self.over {
            return Poll::Ready(None);
        }
        let reply = match ready!(self.exchange.poll_step(context)) {
            Step::Said(message) => return Poll::Ready(Some(sse::named("message", &message))),
            Step::Outcome(reply) => reply,
        };
        self.over = true;
        Poll::Ready(match reply.into_line() {
            Written::Small(message) => Some(sse::named("message", &message)),
            Written::Large(message) => {
                let answer = sse::named_large("message", message);
                stream::chunk(self.answer.insert(Box::new(answer)))
            }
        })
    }

    fn position(&self) -> Option<String> {
        None
    }
}
