//! The HTTP+SSE transport of 2024-11-05: `GET /sse` opens the session and carries all messages of
//! the server; the client posts its messages to the URL that the stream names first.
//!
//! The session ends with its stream and cannot be resumed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use tokio::sync::mpsc;

use super::body::{self, HttpRefusal, TestBody, TestEndpointResult};
use super::{TestHttpEndpoint, guard, read};
use crate::rpc::peer::{ClientPeer, FrameSink, lock};
use crate::rpc::random_id;
use crate::rpc::session::{TestService, TestSession};

const MESSAGES: &str = "/messages";

/// The two endpoints of the transport and their sessions.
pub struct TestSseEndpoint<S, F> {
    open: F,
    sessions: Mutex<HashMap<String, Arc<SseTestSession<S>>>>,
}

/// One session with its event stream.
struct SseTestSession<S> {
    session: TestSession<S>,
    stream: Arc<dyn FrameSink>,
}

/// A sink that writes to the stream of a session.
struct SseFrameSink(mpsc::UnboundedSender<String>);

impl FrameSink for SseFrameSink {
    fn send(&self, frame: String) {
        // Fails only after the client has disconnected; then the frame is discarded.
        let _ = self.0.send(frame);
    }
}

impl<S, F> TestHttpEndpoint for TestSseEndpoint<S, F>
where
    S: TestService,
    F: Fn(Arc<ClientPeer>) -> Arc<S> + Send + Sync + 'static,
{
    const PATH: &str = "/sse";

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> TestEndpointResult {
        match (request.method(), request.uri().path()) {
            (&Method::GET, Self::PATH) => {
                guard::accepts(request.headers(), "text/event-stream")?;
                Ok(self.begin())
            }
            (&Method::POST, MESSAGES) => self.post(request).await,
            (_, Self::PATH | MESSAGES) => {
                Err(HttpRefusal::Said(StatusCode::METHOD_NOT_ALLOWED, "GET /sse or POST /messages"))
            }
            _ => {
                Err(HttpRefusal::Said(StatusCode::NOT_FOUND, "only /sse and /messages are served"))
            }
        }
    }
}

impl<S, F> TestSseEndpoint<S, F>
where
    S: TestService,
    F: Fn(Arc<ClientPeer>) -> Arc<S> + Send + Sync + 'static,
{
    /// Endpoints without any session yet.
    pub fn new(open: F) -> Self {
        Self { open, sessions: Mutex::default() }
    }

    fn begin(self: Arc<Self>) -> Response<TestBody> {
        let (sender, frames) = mpsc::unbounded_channel();
        let stream: Arc<dyn FrameSink> = Arc::new(SseFrameSink(sender));
        let session = TestSession::new(ClientPeer::new(Arc::clone(&stream)), &self.open);
        let id = random_id();
        lock(&self.sessions).insert(id.clone(), Arc::new(SseTestSession { session, stream }));
        let (chunks, receiver) = mpsc::channel(16);
        tokio::spawn(async move {
            feed(&id, frames, &chunks).await;
            lock(&self.sessions).remove(&id);
        });
        body::events(receiver)
    }

    async fn post(&self, request: Request<Incoming>) -> TestEndpointResult {
        let id = request.uri().query().and_then(|query| query.strip_prefix("sessionId="));
        let held = id.and_then(|id| lock(&self.sessions).get(id).cloned());
        let held =
            held.ok_or_else(|| HttpRefusal::Said(StatusCode::NOT_FOUND, "no such session"))?;
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
