//! The Streamable HTTP carrier with sessions: POST, GET and DELETE on `/mcp`, resumable streams.
//!
//! A closed connection cancels nothing: every stream is a log the client may come back to with
//! `Last-Event-ID`.

use std::sync::Arc;

use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;

use super::body::{self, Body, Refusal, Replied};
use super::sessions::{Held, Sessions};
use super::{Endpoint, HttpOptions, guard, read};
use crate::rpc::message::{Frame, Message};
use crate::rpc::peer::{Outlet, Peer};
use crate::rpc::revision::Revision;
use crate::rpc::session::Service;

/// An endpoint with sessions.
pub struct Streamable<S, F> {
    options: HttpOptions,
    sessions: Sessions<S>,
    open: F,
}

impl<S, F> Endpoint for Streamable<S, F>
where
    S: Service,
    F: Fn(Arc<Peer>) -> Arc<S> + Send + Sync + 'static,
{
    const PATH: &str = "/mcp";

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Replied {
        if request.uri().path() != "/mcp" {
            return Err(Refusal::Said(StatusCode::NOT_FOUND, "only /mcp is served"));
        }
        guard::version(request.headers())?;
        match *request.method() {
            Method::POST => self.post(request).await,
            Method::GET => self.get(&request),
            Method::DELETE => self.delete(&request),
            _ => Err(Refusal::Said(StatusCode::METHOD_NOT_ALLOWED, "POST, GET or DELETE")),
        }
    }
}

impl<S, F> Streamable<S, F>
where
    S: Service,
    F: Fn(Arc<Peer>) -> Arc<S> + Send + Sync + 'static,
{
    /// An endpoint without any session yet.
    pub fn new(options: HttpOptions, open: F) -> Self {
        Self { options, sessions: Sessions::default(), open }
    }

    async fn post(&self, request: Request<Incoming>) -> Replied {
        guard::posted(request.headers())?;
        let session = guard::session(request.headers());
        let frame = read(request).await?;
        let opens = matches!(&frame, Frame::One(Message::Request(r)) if r.method == "initialize");
        let held = match session {
            None if opens => self.sessions.open(&self.open),
            session => self.sessions.find(session)?,
        };
        let mut response = self.hand_over(&held, frame).await;
        guard::put_session(response.headers_mut(), &held.id);
        Ok(response)
    }

    async fn hand_over(&self, held: &Arc<Held<S>>, frame: Frame) -> Response<Body> {
        if !expects_reply(&frame) {
            let nowhere: Arc<dyn Outlet> = Arc::clone(&held.ambient) as _;
            held.session.take(frame, &nowhere).await;
            return body::empty(StatusCode::ACCEPTED);
        }
        let primed = !self.options.json && resumable(held);
        let log = held.new_stream();
        let outlet: Arc<dyn Outlet> = Arc::clone(&log) as _;
        let reply = held.session.take(frame, &outlet);
        let working = Arc::clone(&log);
        tokio::spawn(async move { working.finish(reply.await) });
        if self.options.json
            && let Some(only) = log.only_frame().await
        {
            self.count(held);
            return body::json(StatusCode::OK, only);
        }
        self.count(held);
        body::events(log.follow(0, primed))
    }

    /// Forgets the session once it has had as many requests as the options allow.
    fn count(&self, held: &Held<S>) {
        if self.options.forget_after.is_some_and(|limit| held.count() > limit) {
            self.sessions.forget(&held.id);
        }
    }

    fn get(&self, request: &Request<Incoming>) -> Replied {
        guard::accepts(request.headers(), "text/event-stream")?;
        let held = self.sessions.find(guard::session(request.headers()))?;
        let primed = resumable(&held);
        let (log, from) = match guard::last_event(request.headers()) {
            None => (Arc::clone(&held.ambient), held.ambient.delivered()),
            Some(event) => held
                .stream_of(event)
                .ok_or_else(|| Refusal::Said(StatusCode::BAD_REQUEST, "unknown event id"))?,
        };
        if log.exhausted(from) {
            // The one answer after which an event source does not come back.
            return Ok(body::empty(StatusCode::NO_CONTENT));
        }
        let mut response = body::events(log.follow(from, primed));
        guard::put_session(response.headers_mut(), &held.id);
        Ok(response)
    }

    fn delete(&self, request: &Request<Incoming>) -> Replied {
        let held = self.sessions.find(guard::session(request.headers()))?;
        self.sessions.forget(&held.id);
        Ok(body::empty(StatusCode::OK))
    }
}

fn expects_reply(frame: &Frame) -> bool {
    match frame {
        Frame::One(message) => matches!(message, Message::Request(_)),
        Frame::Batch(messages) => messages.iter().any(|m| matches!(m, Message::Request(_))),
    }
}

/// Older clients choke on the empty event that makes a stream resumable from its start.
fn resumable<S: Service>(held: &Held<S>) -> bool {
    held.session.revision() >= Some(Revision::V2025_11_25)
}
