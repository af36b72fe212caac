//! The server on Streamable HTTP: POST answered with JSON, no stream, sessions only by name.
//!
//! It does NOT check Host, Origin or the session id: it listens on loopback for a benchmark.

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

use super::Echo;
use super::answer::Answer;

struct Served {
    echo: Echo,
    sessions: AtomicU64,
}

/// Answers every connection of `listener`; it ends only with an error.
pub async fn serve(listener: TcpListener, echo: Echo) -> io::Result<()> {
    let served = Arc::new(Served { echo, sessions: AtomicU64::new(0) });
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
    served: Arc<Served>,
    request: Request<Incoming>,
) -> Result<Response<Parts>, Infallible> {
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

async fn post(served: &Served, request: Request<Incoming>) -> Response<Parts> {
    let Ok(body) = request.into_body().collect().await else {
        return empty(StatusCode::BAD_REQUEST);
    };
    let Some(answer) = served.echo.answer(&body.to_bytes()) else {
        return empty(StatusCode::ACCEPTED);
    };
    let (opens, status) = (answer.opens, answer.status);
    let mut response = Response::new(Parts::from(answer));
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

fn empty(status: StatusCode) -> Response<Parts> {
    let mut response = Response::new(Parts::default());
    *response.status_mut() = status;
    response
}

/// A body of known length made of whole parts, so that prepared bytes go out without a copy.
#[derive(Default)]
struct Parts(VecDeque<Bytes>);

impl From<Answer> for Parts {
    fn from(answer: Answer) -> Self {
        Parts([answer.head, answer.tail].into_iter().filter(|part| !part.is_empty()).collect())
    }
}

impl Body for Parts {
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
