//! Response bodies: nothing, one JSON text, or an event stream that grows.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Response, StatusCode};
use hyper::body::Frame;
use tokio::sync::mpsc;

use crate::rpc::outcome::TestRpcError;

/// A response body of any kind.
pub enum TestBody {
    /// At most one chunk.
    Whole(Option<Bytes>),
    /// Chunks as they come.
    Growing(mpsc::Receiver<Bytes>),
}

/// The reason why a request is refused.
pub enum HttpRefusal {
    /// Plain words about the HTTP request.
    Said(StatusCode, &'static str),
    /// A JSON-RPC error about the message in it.
    Message(TestRpcError),
}

/// A response, or the reason why the request is refused.
pub type TestEndpointResult = Result<Response<TestBody>, HttpRefusal>;

impl From<HttpRefusal> for Response<TestBody> {
    fn from(refusal: HttpRefusal) -> Self {
        match refusal {
            HttpRefusal::Said(status, why) => {
                with(status, TestBody::Whole(Some(Bytes::from_static(why.as_bytes()))))
            }
            HttpRefusal::Message(fault) => json(StatusCode::BAD_REQUEST, fault.orphan_frame()),
        }
    }
}

impl hyper::body::Body for TestBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            Self::Whole(chunk) => Poll::Ready(chunk.take().map(|chunk| Ok(Frame::data(chunk)))),
            Self::Growing(chunks) => {
                chunks.poll_recv(context).map(|chunk| chunk.map(|chunk| Ok(Frame::data(chunk))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }
}

/// A response without a body.
pub fn empty(status: StatusCode) -> Response<TestBody> {
    with(status, TestBody::Whole(None))
}

/// A response that is one JSON text.
pub fn json(status: StatusCode, text: String) -> Response<TestBody> {
    let mut response = with(status, TestBody::Whole(Some(Bytes::from(text))));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A response that is an event stream.
pub fn events(chunks: mpsc::Receiver<Bytes>) -> Response<TestBody> {
    let mut response = with(StatusCode::OK, TestBody::Growing(chunks));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// One message as an event without an id.
pub fn event(frame: &str) -> Bytes {
    let data: String = frame.lines().map(|line| format!("data: {line}\n")).collect();
    format!("event: message\n{data}\n").into()
}

fn with(status: StatusCode, body: TestBody) -> Response<TestBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}
