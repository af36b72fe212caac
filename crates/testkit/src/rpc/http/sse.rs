//! The HTTP+SSE carrier of 2024-11-05: `GET /sse` is the session and carries everything the server
//! says; what the client says is posted to the place the stream names first.
//!
//! Nothing is kept for a client that comes back: with its stream the session is over.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use tokio::sync::mpsc;

use super::body::{self, Body, Refusal, Replied};
use super::{Endpoint, guard, read};
use crate::rpc::peer::{Outlet, Peer, lock};
use crate::rpc::random_id;
use crate::rpc::session::{Service, Session};

const MESSAGES: &str = "/messages";

/// Both endpoints and the sessions between them.
pub struct TwoEndpoints<S, F> {
    open: F,
    sessions: Mutex<HashMap<String, Arc<Held<S>>>>,
}

struct Held<S> {
    session: Session<S>,
    stream: Arc<dyn Outlet>,
}

/// The way to a session's stream.
struct Stream(mpsc::UnboundedSender<String>);

impl Outlet for Stream {
    fn send(&self, frame: String) {
        // Fails only once the client has left, and then nobody is left to tell.
        let _ = self.0.send(frame);
    }
}

impl<S, F> Endpoint for TwoEndpoints<S, F>
where
    S: Service,
    F: Fn(Arc<Peer>) -> Arc<S> + Send + Sync + 'static,
{
    const PATH: &str = "/sse";

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Replied {
        match (request.method(), request.uri().path()) {
            (&Method::GET, Self::PATH) => {
                guard::accepts(request.headers(), "text/event-stream")?;
                Ok(self.begin())
            }
            (&Method::POST, MESSAGES) => self.post(request).await,
            (_, Self::PATH | MESSAGES) => {
                Err(Refusal::Said(StatusCode::METHOD_NOT_ALLOWED, "GET /sse or POST /messages"))
            }
            _ => Err(Refusal::Said(StatusCode::NOT_FOUND, "only /sse and /messages are served")),
        }
    }
}

impl<S, F> TwoEndpoints<S, F>
where
    S: Service,
    F: Fn(Arc<Peer>) -> Arc<S> + Send + Sync + 'static,
{
    /// Endpoints without any session yet.
    pub fn new(open: F) -> Self {
        Self { open, sessions: Mutex::default() }
    }

    fn begin(self: Arc<Self>) -> Response<Body> {
        let (sender, frames) = mpsc::unbounded_channel();
        let stream: Arc<dyn Outlet> = Arc::new(Stream(sender));
        let session = Session::new(Peer::new(Arc::clone(&stream)), &self.open);
        let id = random_id();
        lock(&self.sessions).insert(id.clone(), Arc::new(Held { session, stream }));
        let (chunks, receiver) = mpsc::channel(16);
        tokio::spawn(async move {
            feed(&id, frames, &chunks).await;
            lock(&self.sessions).remove(&id);
        });
        body::events(receiver)
    }

    async fn post(&self, request: Request<Incoming>) -> Replied {
        let id = request.uri().query().and_then(|query| query.strip_prefix("sessionId="));
        let held = id.and_then(|id| lock(&self.sessions).get(id).cloned());
        let held = held.ok_or_else(|| Refusal::Said(StatusCode::NOT_FOUND, "no such session"))?;
        let reply = held.session.take(read(request).await?, &held.stream);
        tokio::spawn(async move {
            if let Some(frame) = reply.await {
                held.stream.send(frame);
            }
        });
        Ok(body::empty(StatusCode::ACCEPTED))
    }
}

/// Feeds a client's stream until either side is done.
async fn feed(id: &str, mut frames: mpsc::UnboundedReceiver<String>, chunks: &mpsc::Sender<Bytes>) {
    let endpoint = format!("event: endpoint\ndata: {MESSAGES}?sessionId={id}\n\n");
    let mut chunk = Bytes::from(endpoint);
    while chunks.send(chunk).await.is_ok() {
        tokio::select! {
            frame = frames.recv() => match frame {
                Some(frame) => chunk = body::event(&frame),
                None => return,
            },
            () = chunks.closed() => return,
        }
    }
}
