//! The Streamable HTTP carrier: a POST starts a play, its response carries it.
//!
//! A play of one message is answered with JSON, unframed bytes as they come with the JSON media
//! type, and everything else as an event stream. It does NOT know modes, offers no GET stream and
//! does not check sessions.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use http_body_util::channel::Channel;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use super::act::{Act, Chunks, Outlet, Play, perform};
use super::server::Server;

type Body = Channel<Bytes, Infallible>;

/// Serves until the process is stopped.
pub(super) async fn serve(server: Server, address: SocketAddr) -> io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    if let Some(play) = server.start() {
        let world = server.world.clone();
        tokio::spawn(async move { perform(play, &mut Nowhere, &world).await });
    }
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let server = server.clone();
        let service = service_fn(move |request| respond(server.clone(), request));
        tokio::spawn(async move {
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn respond(server: Server, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
    Ok(match *request.method() {
        Method::POST => post(server, request).await,
        Method::DELETE => empty(StatusCode::OK),
        _ => empty(StatusCode::METHOD_NOT_ALLOWED),
    })
}

async fn post(server: Server, request: Request<Incoming>) -> Response<Body> {
    let Ok(body) = request.into_body().collect().await else {
        return empty(StatusCode::BAD_REQUEST);
    };
    match server.receive(&body.to_bytes()) {
        Some(play) => carry(server, play),
        None => empty(StatusCode::ACCEPTED),
    }
}

fn carry(server: Server, mut play: Play) -> Response<Body> {
    let opening: Vec<Act> = play.by_ref().take(2).collect();
    let as_events = !matches!(opening.as_slice(), [Act::Message(_)] | [Act::Stream(..), ..]);
    let (sender, body) = Channel::new(16);
    let mut out = Carried { sender, as_events };
    tokio::spawn(async move {
        let play = Box::new(opening.into_iter().chain(play));
        perform(play, &mut out, &server.world).await
    });
    let mut response = Response::new(body);
    let media_type = if as_events { "text/event-stream" } else { "application/json" };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert("mcp-session-id", HeaderValue::from_static("hostile"));
    response
}

fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Channel::new(1).1);
    *response.status_mut() = status;
    response
}

/// A response body.
struct Carried {
    sender: http_body_util::channel::Sender<Bytes>,
    as_events: bool,
}

impl Carried {
    async fn send(&mut self, bytes: Bytes) -> io::Result<()> {
        self.sender.send_data(bytes).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl Outlet for Carried {
    async fn message(&mut self, message: Bytes) -> io::Result<()> {
        if self.as_events {
            self.send([b"event: message\ndata: ", &message[..], b"\n\n"].concat().into()).await
        } else {
            self.send(message).await
        }
    }

    async fn stream(&mut self, chunks: Chunks, pause: Duration) -> io::Result<()> {
        for chunk in chunks {
            self.send(chunk).await?;
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
        }
        Ok(())
    }
}

/// Before the first request there is no stream to write to.
struct Nowhere;

impl Outlet for Nowhere {
    async fn message(&mut self, _: Bytes) -> io::Result<()> {
        Ok(())
    }

    async fn stream(&mut self, _: Chunks, _: Duration) -> io::Result<()> {
        Ok(())
    }
}
