//! POST: a message of the client, and its answer.
//!
//! The body says which era it belongs to; what has no session goes to `modern`. For the others, an
//! answer that comes first is a plain JSON body, awaited in the connection's own task. Only if
//! something must be said before it, or it takes long, does the response become an event stream,
//! and the exchange moves to a task that fills the stream whether or not somebody reads. A client
//! that hangs up before there is a stream cannot come back for the answer: its call is cancelled.
//! One that leaves its stream has some time to come back ([`Options::resume`](crate::Options)).

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use hyper::body::Incoming;
use tokio::time::{Sleep, sleep};
use toolgate_transport::refill::Refill;
use toolgate_wire::{Frame, Kind, Message, method};

use super::answer::{Refused, bare, events, faulty, json, with_status};
use super::clock::{Phase, Pulse};
use super::eventlog::EventLog;
use super::headers::{Accept, SESSION_ID, json_body, known_version, label};
use super::modern::Visited;
use super::payload::Payload;
use super::server::{Server, missing_session};
use super::sessions::{HttpSession, NoRoom};
use super::stream::{Events, Pace};
use crate::modern::Speech;
use crate::principal::{Comer, Place};
use crate::session::{Exchange, Opening, Outlet, Reply, Step, finish};

/// How a message came, and how it is answered.
struct Way<'a> {
    comer: Comer,
    accept: Accept,
    pulse: &'a Arc<Pulse>,
}

impl Server {
    /// Takes a message.
    pub(crate) async fn post(
        &self,
        request: Request<Incoming>,
        place: Place,
        pulse: &Arc<Pulse>,
    ) -> Result<Response<Payload>, Refused> {
        let (head, body) = request.into_parts();
        json_body(&head.headers)?;
        let accept = Accept::of(&head.headers)?;
        let comer = self.comer(&head.headers, place, pulse)?;
        let options = &self.hub.options;
        pulse.enter(Phase::Body);
        let bytes = self.read_body(body, &comer).await?;
        pulse.enter(Phase::Serving);
        let message = self.hub.modern.read(bytes, &self.hub.limits());
        let message = message.map_err(|error| Refused::unreadable(&error))?;
        match (Speech::of(&message, label(&head.headers), options.strict), message) {
            (Err(fault), _) => Ok(faulty(fault)),
            (Ok(Speech::Notice), _) => Ok(bare(StatusCode::ACCEPTED)),
            (Ok(Speech::Request(envelope)), Message::One(frame)) => {
                let visited = Visited { frame, envelope, accept, comer };
                self.modern(visited, &head.headers, pulse).await
            }
            (Ok(_), message) => {
                self.legacy(message, &head.headers, Way { comer, accept, pulse }).await
            }
        }
    }

    /// Takes a message of a session, or one that opens it.
    async fn legacy(
        &self,
        message: Message,
        headers: &HeaderMap,
        way: Way<'_>,
    ) -> Result<Response<Payload>, Refused> {
        known_version(headers)?;
        let Some(client) = self.session_of(headers, &way.comer)? else {
            return match message {
                Message::One(frame) if opens(&frame) => self.open(&frame, way).await,
                _ => Err(missing_session()),
            };
        };
        let Way { accept, pulse, .. } = way;
        Ok(match begin(&client, message, accept) {
            Ok(Some(exchange)) => self.answer(&client, exchange, accept, pulse).await,
            Ok(None) => bare(StatusCode::ACCEPTED),
            Err(reply) => with_status(json(reply), StatusCode::BAD_REQUEST),
        })
    }

    /// Opens a session.
    async fn open(&self, request: &Frame, way: Way<'_>) -> Result<Response<Payload>, Refused> {
        let Way { comer, accept, pulse } = way;
        self.hub.await_start().await;
        let key = self.sessions.place(&comer.peer_id()).map_err(|reason| no_room(&reason))?;
        let log = Arc::new(EventLog::new());
        let (session, reply) = match self.hub.open(request, &comer, log.clone()) {
            Opening::Session(session, reply) => (session, reply),
            Opening::Refused(reply) => return Ok(json(reply)),
        };
        let client = self.sessions.enter(key, HttpSession::new(session, log, comer));
        let mut response = match accept {
            Accept::Both | Accept::Json => json(reply),
            Accept::Events => self.stream(&client, Exchange::Answered(reply), None, pulse),
        };
        if let Ok(id) = HeaderValue::try_from(key.to_string()) {
            response.headers_mut().insert(SESSION_ID, id);
        }
        Ok(response)
    }

    /// Answers a request as soon as it is known how.
    async fn answer(
        &self,
        client: &HttpSession,
        mut exchange: Exchange,
        accept: Accept,
        pulse: &Arc<Pulse>,
    ) -> Response<Payload> {
        if accept == Accept::Events {
            return self.stream(client, exchange, None, pulse);
        }
        let patience = self.hub.options.sse_after;
        let said = match first(accept, patience, |task| exchange.poll_step(task)).await {
            First::Step(Step::Outcome(reply)) => return json(reply),
            First::Step(Step::Said(message)) => Some(message),
            First::Late => None,
        };
        self.stream(client, exchange, said, pulse)
    }

    /// Answers with a stream that begins with what was already said.
    fn stream(
        &self,
        client: &HttpSession,
        mut exchange: Exchange,
        said: Option<Bytes>,
        pulse: &Arc<Pulse>,
    ) -> Response<Payload> {
        let stream = OwnStream { log: client.log.clone(), stream: client.log.open() };
        if let Some(message) = said {
            stream.send(message);
        }
        let reader = client.log.attach(stream.stream, None);
        let abandoned =
            client.log.abandoned(stream.stream, self.hub.options.resume, client.peer.clone());
        tokio::spawn(async move {
            tokio::select! {
                biased;
                reply = finish(|context| exchange.poll_step(context), &stream) => stream.answer(reply),
                // Dropping the exchange cancels the call.
                () = abandoned => {
                    tracing::debug!(target: "toolgate::gateway", "a client did not come back");
                }
            }
        });
        let pace = Pace::of_request(&self.hub.options, client.session.revision());
        events(Events::new(reader, pace, pulse.clone()))
    }
}

/// Hands a message to its session. `None` if it wants no answer; an error if the session cannot
/// take such a message.
fn begin(
    client: &HttpSession,
    message: Message,
    accept: Accept,
) -> Result<Option<Exchange>, Reply> {
    match message {
        Message::One(frame) if frame.kind() == Kind::Request => {
            Ok(Some(client.session.request(frame, accept.carriage())))
        }
        Message::One(frame) => {
            client.session.take(frame);
            Ok(None)
        }
        Message::Batch(messages) => client.session.batch(messages, accept.carriage()),
    }
}

fn opens(frame: &Frame) -> bool {
    frame.kind() == Kind::Request && frame.is(method::INITIALIZE)
}

pub(super) fn no_room(reason: &NoRoom) -> Refused {
    tracing::warn!(target: "toolgate::gateway", %reason, "no session could be opened");
    Refused::new(StatusCode::SERVICE_UNAVAILABLE, "no session can be opened now")
}

/// How a response begins.
pub(crate) enum First {
    /// Something happened.
    Step(Step),
    /// Nothing happened for so long that the client should see a sign of life.
    Late,
}

/// Waits for the first step of an exchange, though not for ever if the client takes streams.
pub(crate) async fn first(
    accept: Accept,
    patience: Duration,
    mut poll_step: impl FnMut(&mut Context<'_>) -> Poll<Step>,
) -> First {
    let mut late = pin!(None::<Sleep>);
    poll_fn(|context| {
        if let Poll::Ready(step) = poll_step(context) {
            return Poll::Ready(First::Step(step));
        }
        if accept == Accept::Json {
            return Poll::Pending;
        }
        if late.is_none() {
            late.set(Some(sleep(patience)));
        }
        match late.as_mut().as_pin_mut().map(|late| late.poll(context)) {
            Some(Poll::Ready(())) => Poll::Ready(First::Late),
            _ => Poll::Pending,
        }
    })
    .await
}

/// The stream of one request. It is finished when this goes.
struct OwnStream {
    log: Arc<EventLog>,
    stream: u64,
}

impl Outlet for OwnStream {
    fn send(&self, message: Bytes) {
        self.log.push(self.stream, &message);
    }

    fn send_large(&self, message: Refill) {
        self.log.push_large(self.stream, message);
    }
}

impl Drop for OwnStream {
    fn drop(&mut self) {
        self.log.finish(self.stream);
    }
}
