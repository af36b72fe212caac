//! `/sse` and `/messages`: HTTP+SSE, the transport of 2024-11-05, for clients that know no other.
//!
//! GET `/sse`, or `/sse/<profile>`, opens a stream whose first event names the place to post to; all that is said to the
//! client goes onto that stream, answers included. A session begins with `initialize` and ends with
//! its stream: nothing is kept for a client that comes back, and its calls are cancelled. What
//! messages mean is the session's, whatever carries it; the doors before all paths hold here too.

mod client;
mod clients;
mod outbox;

use std::sync::Arc;

use http::{HeaderMap, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use toolgate_wire::{Message, Revision};

use super::answer::{Refused, bare, events, faulty, json, with_status};
use super::clock::{Phase, Pulse};
use super::headers::{Accept, json_body, label};
use super::payload::Payload;
use super::post::no_room;
use super::server::{Server, unknown_session, wrong_method};
use super::stream::{Events, Pace};
use crate::modern::{Fault, Label, Speech};
use crate::principal::Place;

pub(crate) use clients::Clients;

/// Where streams are opened.
pub(crate) const STREAM: &str = "/sse";
/// Where messages are posted.
pub(crate) const MESSAGES: &str = "/messages";

impl Server {
    /// Answers a request to one of the two places.
    pub(crate) async fn old(
        &self,
        request: Request<Incoming>,
        place: Place,
        pulse: &Arc<Pulse>,
    ) -> Response<Payload> {
        let (is_stream, method) = (request.uri().path() != MESSAGES, request.method());
        let allowed = if is_stream { Method::GET } else { Method::POST };
        let response = match *method == allowed {
            false => Err(wrong_method()),
            true if is_stream => self.open_old(request.headers(), place, pulse),
            true => self.post_old(request, pulse).await,
        };
        response
            .unwrap_or_else(|refused| refused.into_response(if is_stream { "GET" } else { "POST" }))
    }

    /// Opens a stream, which tells its client where to post.
    fn open_old(
        &self,
        headers: &HeaderMap,
        place: Place,
        pulse: &Arc<Pulse>,
    ) -> Result<Response<Payload>, Refused> {
        Accept::of(headers)?.needs_events()?;
        let comer = self.comer(headers, place, pulse)?;
        let share = self.stream_share(&comer)?;
        let opened = self.old.open(self.hub.clone(), comer, pulse.clone());
        let presence = opened.map_err(|reason| no_room(&reason))?;
        let pace = Pace::unbroken(&self.hub.options);
        Ok(events(Events::new(presence, pace, pulse.clone()).counted(share)))
    }

    /// Takes a message. Its answer goes onto the stream.
    async fn post_old(
        &self,
        request: Request<Incoming>,
        pulse: &Arc<Pulse>,
    ) -> Result<Response<Payload>, Refused> {
        json_body(request.headers())?;
        let (head, body) = request.into_parts();
        let id = head.uri.query().and_then(session).ok_or_else(unknown_session)?;
        let comer = self.comer(&head.headers, None, pulse)?;
        let client = self.old.find(id, &comer.principal).ok_or_else(unknown_session)?;
        let options = &self.hub.options;
        pulse.enter(Phase::Body);
        let bytes = self.read_body(body, &comer).await?;
        pulse.enter(Phase::Serving);
        let message = Message::parse(bytes, &self.hub.limits())
            .map_err(|error| Refused::unreadable(&error))?;
        if let Err(fault) = of_a_session(&message, label(&head.headers), options.strict) {
            return Ok(faulty(fault));
        }
        self.hub.await_start().await;
        match client.receive(message) {
            Ok(true) => Ok(bare(StatusCode::ACCEPTED)),
            Ok(false) => Err(unknown_session()),
            Err(reply) => Ok(with_status(json(reply), StatusCode::BAD_REQUEST)),
        }
    }
}

/// Refuses what has no session: there is nothing else here.
fn of_a_session(
    message: &Message,
    label: Label<'_>,
    strict: Option<Revision>,
) -> Result<(), Fault> {
    let id = match (Speech::of(message, label, strict)?, message) {
        (Speech::Legacy, _) => return Ok(()),
        (_, Message::One(frame)) => frame.id().map(|id| id.to_owned()),
        (_, Message::Batch(_)) => None,
    };
    Err(Fault::unfit(id, "messages of 2026-07-28 are posted to /mcp"))
}

/// The session a query names.
fn session(query: &str) -> Option<&str> {
    query.split('&').find_map(|pair| pair.strip_prefix("session="))
}
