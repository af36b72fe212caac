//! The Streamable HTTP transport without sessions: one request per POST.
//!
//! A client cancels a request by closing the connection. GET and DELETE do not exist, and there are
//! no session or event ids.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use hyper::body::Incoming;
use serde::Deserialize;
use tokio::sync::mpsc;

use super::body::{self, HttpRefusal, TestBody, TestEndpointResult};
use super::{TestHttpEndpoint, guard, read};
use crate::rpc::message::{TestFrame, TestMessage, TestRequest, TestRequestId};
use crate::rpc::outcome::{ResponseOutcome, TestRpcError};
use crate::rpc::peer::{ClientPeer, FrameSink};
use crate::rpc::session::{TestService, TestSession};

/// A service that handles every request independently.
pub trait StatelessService: TestService {
    /// Compares what the headers of a POST say with the request in it.
    fn admit(&self, headers: &HeaderMap, request: &TestRequest) -> Result<(), TestRpcError>;
}

/// An endpoint without sessions.
pub struct StatelessEndpoint<S> {
    service: Arc<S>,
}

/// A frame of the response to one request.
enum ResponseFrame {
    Aside(String),
    Answer(String),
}

/// A sink that sends the frames of one request to its response.
struct ResponseFrameSink(mpsc::UnboundedSender<ResponseFrame>);

impl FrameSink for ResponseFrameSink {
    fn send(&self, frame: String) {
        // Fails only after the client has disconnected; then the frame is discarded.
        let _ = self.0.send(ResponseFrame::Aside(frame));
    }
}

/// Cancels a request when its client disconnects.
struct CancelRequestGuard<S: TestService> {
    session: TestSession<S>,
    id: TestRequestId,
}

impl<S: TestService> Drop for CancelRequestGuard<S> {
    fn drop(&mut self) {
        self.session.cancel(&self.id);
    }
}

impl<S: StatelessService> TestHttpEndpoint for StatelessEndpoint<S> {
    const PATH: &str = "/mcp";

    async fn answer(self: Arc<Self>, request: http::Request<Incoming>) -> TestEndpointResult {
        if request.uri().path() != Self::PATH {
            return Err(HttpRefusal::Said(StatusCode::NOT_FOUND, "only /mcp is served"));
        }
        if request.method() != Method::POST {
            return Err(HttpRefusal::Said(StatusCode::METHOD_NOT_ALLOWED, "POST only"));
        }
        guard::check_post_headers(request.headers())?;
        let headers = request.headers().clone();
        match read(request).await? {
            TestFrame::One(TestMessage::Request(request)) => {
                Ok(self.handle_request(&headers, request).await)
            }
            TestFrame::One(TestMessage::Notification(_)) => Ok(body::empty(StatusCode::ACCEPTED)),
            _ => Err(HttpRefusal::Message(TestRpcError::invalid_request("one request per POST"))),
        }
    }
}

impl<S: StatelessService> StatelessEndpoint<S> {
    /// An endpoint of this service.
    pub fn new(service: Arc<S>) -> Self {
        Self { service }
    }

    async fn handle_request(
        &self,
        headers: &HeaderMap,
        request: TestRequest,
    ) -> Response<TestBody> {
        let id = request.id.clone();
        if let Err(fault) = self.service.admit(headers, &request) {
            let status = status(fault.code).unwrap_or(StatusCode::BAD_REQUEST);
            return body::json(status, ResponseOutcome::from(Err(fault)).frame(&id));
        }
        let (sender, mut parts) = mpsc::unbounded_channel();
        let outlet: Arc<dyn FrameSink> = Arc::new(ResponseFrameSink(sender.clone()));
        let session =
            TestSession::new(ClientPeer::new(Arc::clone(&outlet)), &|_| Arc::clone(&self.service));
        let reply = session.take(TestFrame::One(TestMessage::Request(request)), &outlet);
        let waiting = CancelRequestGuard { session, id };
        tokio::spawn(async move {
            if let Some(answer) = reply.await {
                // The client may have left at the last moment.
                let _ = sender.send(ResponseFrame::Answer(answer));
            }
        });
        match parts.recv().await {
            Some(ResponseFrame::Aside(first)) => streamed(first, parts, waiting),
            Some(ResponseFrame::Answer(only)) => body::json(status_of(&only), only),
            None => body::empty(StatusCode::INTERNAL_SERVER_ERROR),
        }
    }
}

fn streamed<S: TestService>(
    first: String,
    mut parts: mpsc::UnboundedReceiver<ResponseFrame>,
    waiting: CancelRequestGuard<S>,
) -> Response<TestBody> {
    let (chunks, receiver) = mpsc::channel::<Bytes>(16);
    tokio::spawn(async move {
        let _waiting = waiting;
        let mut next = Some(ResponseFrame::Aside(first));
        while let Some(part) = next {
            let (frame, last) = match part {
                ResponseFrame::Aside(frame) => (frame, false),
                ResponseFrame::Answer(frame) => (frame, true),
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
    /// An error response, of which only the error object is read.
    #[derive(Deserialize)]
    struct ErrorResponse {
        error: Option<ErrorCode>,
    }
    /// A JSON-RPC error object, of which only the code is read.
    #[derive(Deserialize)]
    struct ErrorCode {
        code: i64,
    }
    let answered = serde_json::from_str::<ErrorResponse>(answer).ok();
    let code = answered.and_then(|answered| answered.error).map(|error| error.code);
    code.and_then(status).unwrap_or(StatusCode::OK)
}
