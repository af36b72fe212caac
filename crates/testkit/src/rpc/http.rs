//! The HTTP transports: Streamable HTTP with and without sessions, and the older HTTP+SSE.
//!
//! They listen on loopback only, without TLS and authentication. This file accepts connections and
//! reads bodies; the endpoints handle the requests.

mod body;
mod guard;
mod sessions;
mod sse;
mod stateless;
mod stream;
mod streamable;

use std::future::Future;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;

use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

use self::body::{HttpRefusal, TestEndpointResult};
use self::sse::TestSseEndpoint;
use self::stateless::StatelessEndpoint;
pub use self::stateless::StatelessService;
use self::streamable::StreamableEndpoint;
use super::message::TestFrame;
use super::outcome::TestRpcError;
use super::peer::ClientPeer;
use super::session::TestService;
use super::stdio::stdin_lines;

/// The options of a server on HTTP.
#[derive(Debug, Clone, Default)]
pub struct TestHttpOptions {
    /// Answer in JSON where nothing but the response is to be sent.
    pub json: bool,
    /// Forget a session after this many requests, as a restarted server would.
    pub forget_after: Option<usize>,
    /// End when our stdin does, so that no test leaves a server behind.
    pub until_eof: bool,
}

/// A handler of HTTP requests.
trait TestHttpEndpoint: Send + Sync + 'static {
    /// Where clients are sent to.
    const PATH: &str;

    /// Answers a request whose Host and Origin are local.
    fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> impl Future<Output = TestEndpointResult> + Send;
}

/// Serves sessions on Streamable HTTP; the first line on stdout is the endpoint's URL.
pub async fn serve<S, F>(address: SocketAddr, options: TestHttpOptions, open: F) -> io::Result<()>
where
    S: TestService,
    F: Fn(Arc<ClientPeer>) -> Arc<S> + Send + Sync + 'static,
{
    listen(address, options.until_eof, StreamableEndpoint::new(options, open)).await
}

/// Serves sessions on HTTP+SSE; the first line on stdout is the stream's URL.
pub async fn serve_sse<S, F>(
    address: SocketAddr,
    options: TestHttpOptions,
    open: F,
) -> io::Result<()>
where
    S: TestService,
    F: Fn(Arc<ClientPeer>) -> Arc<S> + Send + Sync + 'static,
{
    listen(address, options.until_eof, TestSseEndpoint::new(open)).await
}

/// Serves single requests on Streamable HTTP; the first line on stdout is the endpoint's URL.
pub async fn serve_stateless<S: StatelessService>(
    address: SocketAddr,
    options: TestHttpOptions,
    service: Arc<S>,
) -> io::Result<()> {
    listen(address, options.until_eof, StatelessEndpoint::new(service)).await
}

async fn listen<E: TestHttpEndpoint>(
    address: SocketAddr,
    until_eof: bool,
    endpoint: E,
) -> io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    let mut stdout = io::stdout();
    writeln!(stdout, "http://{}{}", listener.local_addr()?, E::PATH)?;
    stdout.flush()?;
    tokio::select! {
        ended = accept(listener, Arc::new(endpoint)) => ended,
        () = stdin_ended(), if until_eof => Ok(()),
    }
}

async fn stdin_ended() {
    let mut lines = stdin_lines();
    while lines.recv().await.is_some() {}
}

async fn accept<E: TestHttpEndpoint>(listener: TcpListener, endpoint: Arc<E>) -> io::Result<()> {
    loop {
        let (connection, _) = listener.accept().await?;
        connection.set_nodelay(true)?;
        tokio::spawn(serve_connection(connection, Arc::clone(&endpoint)));
    }
}

async fn serve_connection<E: TestHttpEndpoint>(connection: TcpStream, endpoint: Arc<E>) {
    let answer = service_fn(|request: Request<Incoming>| {
        let endpoint = Arc::clone(&endpoint);
        async move {
            let answered = match guard::check_local(request.headers()) {
                Ok(()) => endpoint.answer(request).await,
                Err(refusal) => Err(refusal),
            };
            Ok::<_, io::Error>(answered.unwrap_or_else(Response::from))
        }
    });
    // A connection that breaks concerns its client only.
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(connection), answer)
        .await;
}

/// What a POST body holds.
async fn read(request: Request<Incoming>) -> Result<TestFrame, HttpRefusal> {
    let body = request.into_body().collect().await;
    let body =
        body.map_err(|_| HttpRefusal::Said(StatusCode::BAD_REQUEST, "the body broke off"))?;
    std::str::from_utf8(&body.to_bytes())
        .map_err(|_| TestRpcError::new(-32700, "parse error: not UTF-8"))
        .and_then(TestFrame::parse)
        .map_err(HttpRefusal::Message)
}
