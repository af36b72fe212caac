//! The Streamable HTTP carrier: POST, GET and DELETE on `/mcp`, sessions, resumable SSE streams.
//!
//! Loopback only, no TLS and no authentication. A closed connection cancels nothing: every stream
//! is a log the client may come back to with `Last-Event-ID`.

mod body;
mod guard;
mod sessions;
mod stream;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;

use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

use self::body::{Body, Refusal, Replied};
use self::sessions::{Held, Sessions};
use super::message::{Frame, Message};
use super::outcome::Fault;
use super::peer::{Outlet, Peer};
use super::revision::Revision;
use super::session::Service;
use super::stdio::stdin_lines;

/// What concerns a server on HTTP only.
#[derive(Debug, Clone, Default)]
pub struct HttpOptions {
    /// Answer in JSON where nothing but the response is to be sent.
    pub json: bool,
    /// Forget a session after this many requests, as a restarted server would.
    pub forget_after: Option<usize>,
    /// End when our stdin does, so that no test leaves a server behind.
    pub until_eof: bool,
}

struct Endpoint<S, F> {
    options: HttpOptions,
    sessions: Sessions<S>,
    open: F,
}

/// Serves on `address`; the first line on stdout is the endpoint's URL.
pub async fn serve<S, F>(address: SocketAddr, options: HttpOptions, open: F) -> io::Result<()>
where
    S: Service,
    F: Fn(Arc<Peer>) -> Arc<S> + Send + Sync + 'static,
{
    let listener = TcpListener::bind(address).await?;
    let mut stdout = io::stdout();
    writeln!(stdout, "http://{}/mcp", listener.local_addr()?)?;
    stdout.flush()?;
    let until_eof = options.until_eof;
    let endpoint = Arc::new(Endpoint { options, sessions: Sessions::default(), open });
    tokio::select! {
        ended = accept(listener, endpoint) => ended,
        () = stdin_ended(), if until_eof => Ok(()),
    }
}

async fn stdin_ended() {
    let mut lines = stdin_lines();
    while lines.recv().await.is_some() {}
}

async fn accept<S, F>(listener: TcpListener, endpoint: Arc<Endpoint<S, F>>) -> io::Result<()>
where
    S: Service,
    F: Fn(Arc<Peer>) -> Arc<S> + Send + Sync + 'static,
{
    loop {
        let (connection, _) = listener.accept().await?;
        connection.set_nodelay(true)?;
        tokio::spawn(attend(connection, Arc::clone(&endpoint)));
    }
}

async fn attend<S, F>(connection: TcpStream, endpoint: Arc<Endpoint<S, F>>)
where
    S: Service,
    F: Fn(Arc<Peer>) -> Arc<S> + Send + Sync + 'static,
{
    let answer = service_fn(|request| {
        let endpoint = Arc::clone(&endpoint);
        async move { Ok::<_, io::Error>(endpoint.answer(request).await.unwrap_or_else(Response::from)) }
    });
    // A connection that breaks concerns its client only.
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(connection), answer)
        .await;
}

impl<S, F> Endpoint<S, F>
where
    S: Service,
    F: Fn(Arc<Peer>) -> Arc<S> + Send + Sync + 'static,
{
    async fn answer(&self, request: Request<Incoming>) -> Replied {
        guard::local(request.headers())?;
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

    async fn post(&self, request: Request<Incoming>) -> Replied {
        guard::posted(request.headers())?;
        let session = guard::session(request.headers());
        let body = request.into_body().collect().await;
        let body =
            body.map_err(|_| Refusal::Said(StatusCode::BAD_REQUEST, "the body broke off"))?;
        let frame = std::str::from_utf8(&body.to_bytes())
            .map_err(|_| Fault::new(-32700, "parse error: not UTF-8"))
            .and_then(Frame::parse)
            .map_err(Refusal::Message)?;
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
