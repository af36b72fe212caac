//! Serves the echo server over Streamable HTTP: JSON responses to POST, no streams, and session ids
//! that are issued but not checked.
//!
//! It does not check Host or Origin either, because it listens on loopback for a benchmark.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use super::EchoServer;
use super::answer::EchoResponse;

/// The state that all HTTP connections share.
struct EchoHttpState {
    echo: EchoServer,
    sessions: AtomicU64,
}

/// Answers every connection of `listener`; it ends only with an error.
pub async fn serve(listener: TcpListener, echo: EchoServer) -> io::Result<()> {
    let served = Arc::new(EchoHttpState { echo, sessions: AtomicU64::new(0) });
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let served = Arc::clone(&served);
        let service = service_fn(move |request| respond(Arc::clone(&served), request));
        tokio::spawn(async move {
            // A client that goes away mid-request is no event here.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn respond(
    served: Arc<EchoHttpState>,
    request: Request<Incoming>,
) -> Result<Response<EchoBody>, Infallible> {
    let response = match *request.method() {
        Method::POST => post(&served, request).await,
        Method::DELETE => empty(StatusCode::OK),
        _ => {
            let mut refused = empty(StatusCode::METHOD_NOT_ALLOWED);
            refused.headers_mut().insert(ALLOW, HeaderValue::from_static("POST, DELETE"));
            refused
        }
    };
    Ok(response)
}

async fn post(served: &EchoHttpState, request: Request<Incoming>) -> Response<EchoBody> {
    let Ok(body) = request.into_body().collect().await else {
        return empty(StatusCode::BAD_REQUEST);
    };
    let Some(answer) = served.echo.answer(&body.to_bytes()) else {
        return empty(StatusCode::ACCEPTED);
    };
    let (opens, status) = (answer.opens, answer.status);
    let mut response = Response::new(EchoBody::from(answer));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if opens {
        let number = served.sessions.fetch_add(1, Ordering::Relaxed);
        if let Ok(id) = HeaderValue::from_str(&format!("echo-{number}")) {
            headers.insert("mcp-session-id", id);
        }
    }
    response
}

fn empty(status: StatusCode) -> Response<EchoBody> {
    let mut response = Response::new(EchoBody::default());
    *response.status_mut() = status;
    response
}

/// A body of known length made of several parts, so that prepared bytes are sent without a copy.
#[derive(Default)]
struct EchoBody(VecDeque<Bytes>);

impl From<EchoResponse> for EchoBody {
    fn from(answer: EchoResponse) -> Self {
        EchoBody([answer.head, answer.tail].into_iter().filter(|part| !part.is_empty()).collect())
    }
}

impl Body for EchoBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|part| Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.iter().map(|part| part.len() as u64).sum())
    }
}
