//! The Streamable HTTP carrier without sessions: one request per POST, and its stream is its life.
//!
//! A client that closes the connection has cancelled its request. GET and DELETE do not exist,
//! and session or event ids are neither made nor read.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use hyper::body::Incoming;
use serde::Deserialize;
use tokio::sync::mpsc;

use super::body::{self, Body, Refusal, Replied};
use super::{Endpoint, guard, read};
use crate::rpc::message::{Frame, Id, Message, Request};
use crate::rpc::outcome::{Fault, Outcome};
use crate::rpc::peer::{Outlet, Peer};
use crate::rpc::session::{Service, Session};

/// A service that takes every request by itself.
pub trait Stateless: Service {
    /// Compares what the headers of a POST say with the request in it.
    fn admit(&self, headers: &HeaderMap, request: &Request) -> Result<(), Fault>;
}

/// An endpoint that knows no sessions.
pub struct Visits<S> {
    service: Arc<S>,
}

/// What a request makes us send.
enum Part {
    Aside(String),
    Answer(String),
}

struct Parts(mpsc::UnboundedSender<Part>);

impl Outlet for Parts {
    fn send(&self, frame: String) {
        // Fails only once the client has left, and then nobody is left to tell.
        let _ = self.0.send(Part::Aside(frame));
    }
}

/// Cancels a request when its client stops waiting for it.
struct Waiting<S: Service> {
    session: Session<S>,
    id: Id,
}

impl<S: Service> Drop for Waiting<S> {
    fn drop(&mut self) {
        self.session.cancel(&self.id);
    }
}

impl<S: Stateless> Endpoint for Visits<S> {
    const PATH: &str = "/mcp";

    async fn answer(self: Arc<Self>, request: http::Request<Incoming>) -> Replied {
        if request.uri().path() != Self::PATH {
            return Err(Refusal::Said(StatusCode::NOT_FOUND, "only /mcp is served"));
        }
        if request.method() != Method::POST {
            return Err(Refusal::Said(StatusCode::METHOD_NOT_ALLOWED, "POST only"));
        }
        guard::posted(request.headers())?;
        let headers = request.headers().clone();
        match read(request).await? {
            Frame::One(Message::Request(request)) => Ok(self.visit(&headers, request).await),
            Frame::One(Message::Notification(_)) => Ok(body::empty(StatusCode::ACCEPTED)),
            _ => Err(Refusal::Message(Fault::invalid_request("one request per POST"))),
        }
    }
}

impl<S: Stateless> Visits<S> {
    /// An endpoint of this service.
    pub fn new(service: Arc<S>) -> Self {
        Self { service }
    }

    async fn visit(&self, headers: &HeaderMap, request: Request) -> Response<Body> {
        let id = request.id.clone();
        if let Err(fault) = self.service.admit(headers, &request) {
            let status = status(fault.code).unwrap_or(StatusCode::BAD_REQUEST);
            return body::json(status, Outcome::from(Err(fault)).frame(&id));
        }
        let (sender, mut parts) = mpsc::unbounded_channel();
        let outlet: Arc<dyn Outlet> = Arc::new(Parts(sender.clone()));
        let session = Session::new(Peer::new(Arc::clone(&outlet)), &|_| Arc::clone(&self.service));
        let reply = session.take(Frame::One(Message::Request(request)), &outlet);
        let waiting = Waiting { session, id };
        tokio::spawn(async move {
            if let Some(answer) = reply.await {
                // The client may have left at the last moment.
                let _ = sender.send(Part::Answer(answer));
            }
        });
        match parts.recv().await {
            Some(Part::Aside(first)) => streamed(first, parts, waiting),
            Some(Part::Answer(only)) => body::json(status_of(&only), only),
            None => body::empty(StatusCode::INTERNAL_SERVER_ERROR),
        }
    }
}

fn streamed<S: Service>(
    first: String,
    mut parts: mpsc::UnboundedReceiver<Part>,
    waiting: Waiting<S>,
) -> Response<Body> {
    let (chunks, receiver) = mpsc::channel::<Bytes>(16);
    tokio::spawn(async move {
        let _waiting = waiting;
        let mut next = Some(Part::Aside(first));
        while let Some(part) = next {
            let (frame, last) = match part {
                Part::Aside(frame) => (frame, false),
                Part::Answer(frame) => (frame, true),
            };
            if chunks.send(body::event(&frame)).await.is_err() || last {
                return;
            }
            next = tokio::select! {
                part = parts.recv() => part,
                () = chunks.closed() => return,
            };
        }
    });
    let mut response = body::events(receiver);
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// The status the revision demands for an error, where it demands one.
fn status(code: i64) -> Option<StatusCode> {
    match code {
        -32601 => Some(StatusCode::NOT_FOUND),
        -32022..=-32020 => Some(StatusCode::BAD_REQUEST),
        _ => None,
    }
}

fn status_of(answer: &str) -> StatusCode {
    #[derive(Deserialize)]
    struct Answered {
        error: Option<Coded>,
    }
    #[derive(Deserialize)]
    struct Coded {
        code: i64,
    }
    let answered = serde_json::from_str::<Answered>(answer).ok();
    let code = answered.and_then(|answered| answered.error).map(|error| error.code);
    code.and_then(status).unwrap_or(StatusCode::OK)
}
