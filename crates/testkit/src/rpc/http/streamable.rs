//! The Streamable HTTP transport with sessions: POST, GET and DELETE on `/mcp`, resumable streams.
//!
//! A closed connection cancels nothing: the client can resume every stream with `Last-Event-ID`.

use std::sync::Arc;

use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;

use super::body::{self, HttpRefusal, TestBody, TestEndpointResult};
use super::sessions::{TestHttpSession, TestHttpSessions};
use super::{TestHttpEndpoint, TestHttpOptions, guard, read};
use crate::rpc::message::{TestFrame, TestMessage};
use crate::rpc::peer::{ClientPeer, FrameSink};
use crate::rpc::revision::LegacyRevision;
use crate::rpc::session::TestService;

/// An endpoint with sessions.
pub struct StreamableEndpoint<S, F> {
    options: TestHttpOptions,
    sessions: TestHttpSessions<S>,
    open: F,
}

impl<S, F> TestHttpEndpoint for StreamableEndpoint<S, F>
where
    S: TestService,
    F: Fn(Arc<ClientPeer>) -> Arc<S> + Send + Sync + 'static,
{
    const PATH: &str = "/mcp";

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> TestEndpointResult {
        if request.uri().path() != "/mcp" {
            return Err(HttpRefusal::Said(StatusCode::NOT_FOUND, "only /mcp is served"));
        }
        guard::version(request.headers())?;
        match *request.method() {
            Method::POST => self.post(request).await,
            Method::GET => self.get(&request),
            Method::DELETE => self.delete(&request),
            _ => Err(HttpRefusal::Said(StatusCode::METHOD_NOT_ALLOWED, "POST, GET or DELETE")),
        }
    }
}

impl<S, F> StreamableEndpoint<S, F>
where
    S: TestService,
    F: Fn(Arc<ClientPeer>) -> Arc<S> + Send + Sync + 'static,
{
    /// An endpoint without any session yet.
    pub fn new(options: TestHttpOptions, open: F) -> Self {
        Self { options, sessions: TestHttpSessions::default(), open }
    }

    async fn post(&self, request: Request<Incoming>) -> TestEndpointResult {
        guard::check_post_headers(request.headers())?;
        let session = guard::session(request.headers());
        let frame = read(request).await?;
        let opens =
            matches!(&frame, TestFrame::One(TestMessage::Request(r)) if r.method == "initialize");
        let held = match session {
            None if opens => self.sessions.open(&self.open),
            session => self.sessions.find(session)?,
        };
        let mut response = self.hand_over(&held, frame).await;
        guard::put_session(response.headers_mut(), &held.id);
        Ok(response)
    }

    async fn hand_over(
        &self,
        held: &Arc<TestHttpSession<S>>,
        frame: TestFrame,
    ) -> Response<TestBody> {
        if !expects_reply(&frame) {
            let nowhere: Arc<dyn FrameSink> = Arc::clone(&held.ambient) as _;
            held.session.take(frame, &nowhere).await;
            return body::empty(StatusCode::ACCEPTED);
        }
        let primed = !self.options.json && resumable(held);
        let log = held.new_stream();
        let outlet: Arc<dyn FrameSink> = Arc::clone(&log) as _;
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
    fn count(&self, held: &TestHttpSession<S>) {
        if self.options.forget_after.is_some_and(|limit| held.count() > limit) {
            self.sessions.forget(&held.id);
        }
    }

    fn get(&self, request: &Request<Incoming>) -> TestEndpointResult {
        guard::accepts(request.headers(), "text/event-stream")?;
        let held = self.sessions.find(guard::session(request.headers()))?;
        let primed = resumable(&held);
        let (log, from) = match guard::last_event(request.headers()) {
            None => (Arc::clone(&held.ambient), held.ambient.delivered()),
            Some(event) => held
                .stream_of(event)
                .ok_or_else(|| HttpRefusal::Said(StatusCode::BAD_REQUEST, "unknown event id"))?,
        };
        if log.exhausted(from) {
            // The one answer after which an event source does not come back.
            return Ok(body::empty(StatusCode::NO_CONTENT));
        }
        let mut response = body::events(log.follow(from, primed));
        guard::put_session(response.headers_mut(), &held.id);
        Ok(response)
    }

    fn delete(&self, request: &Request<Incoming>) -> TestEndpointResult {
        let held = self.sessions.find(guard::session(request.headers()))?;
        self.sessions.forget(&held.id);
        Ok(body::empty(StatusCode::OK))
    }
}

fn expects_reply(frame: &TestFrame) -> bool {
    match frame {
        TestFrame::One(message) => matches!(message, TestMessage::Request(_)),
        TestFrame::Batch(messages) => messages.iter().any(|m| matches!(m, TestMessage::Request(_))),
    }
}

/// Older clients choke on the empty event that makes a stream resumable from its start.
fn resumable<S: TestService>(held: &TestHttpSession<S>) -> bool {
    held.session.revision() >= Some(LegacyRevision::V2025_11_25)
}
