//! The Streamable HTTP transport: a POST starts a sequence of actions, and its response carries
//! them.
//!
//! A sequence of one message is answered with JSON, unframed bytes with the JSON media type, and
//! everything else with an event stream. There is no GET stream, and sessions are not checked.

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

use super::action::{ByteChunks, HostileAction, HostileActionSequence, HostileActionSink, perform};
use super::server::HostileServer;

/// A response body that is fed through a channel.
type ChannelBody = Channel<Bytes, Infallible>;

/// Serves until the process is stopped.
pub(super) async fn serve(server: HostileServer, address: SocketAddr) -> io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    if let Some(play) = server.start() {
        let world = server.shared.clone();
        tokio::spawn(async move { perform(play, &mut NullActionSink, &world).await });
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

async fn respond(
    server: HostileServer,
    request: Request<Incoming>,
) -> Result<Response<ChannelBody>, Infallible> {
    Ok(match *request.method() {
        Method::POST => post(server, request).await,
        Method::DELETE => empty(StatusCode::OK),
        _ => empty(StatusCode::METHOD_NOT_ALLOWED),
    })
}

async fn post(server: HostileServer, request: Request<Incoming>) -> Response<ChannelBody> {
    let Ok(body) = request.into_body().collect().await else {
        return empty(StatusCode::BAD_REQUEST);
    };
    match server.receive(&body.to_bytes()) {
        Some(play) => stream_actions(server, play),
        None => empty(StatusCode::ACCEPTED),
    }
}

fn stream_actions(server: HostileServer, mut play: HostileActionSequence) -> Response<ChannelBody> {
    let opening: Vec<HostileAction> = play.by_ref().take(2).collect();
    let as_events = !matches!(
        opening.as_slice(),
        [HostileAction::Message(_)] | [HostileAction::Stream(..), ..]
    );
    let (sender, body) = Channel::new(16);
    let mut out = ResponseActionSink { sender, as_events };
    tokio::spawn(async move {
        let play = Box::new(opening.into_iter().chain(play));
        perform(play, &mut out, &server.shared).await
    });
    let mut response = Response::new(body);
    let media_type = if as_events { "text/event-stream" } else { "application/json" };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert("mcp-session-id", HeaderValue::from_static("hostile"));
    response
}

fn empty(status: StatusCode) -> Response<ChannelBody> {
    let mut response = Response::new(Channel::new(1).1);
    *response.status_mut() = status;
    response
}

/// A sink that writes to a response body.
struct ResponseActionSink {
    sender: http_body_util::channel::Sender<Bytes>,
    as_events: bool,
}

impl ResponseActionSink {
    async fn send(&mut self, bytes: Bytes) -> io::Result<()> {
        self.sender.send_data(bytes).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl HostileActionSink for ResponseActionSink {
    async fn message(&mut self, message: Bytes) -> io::Result<()> {
        if self.as_events {
            self.send([b"event: message\ndata: ", &message[..], b"\n\n"].concat().into()).await
        } else {
            self.send(message).await
        }
    }

    async fn stream(&mut self, chunks: ByteChunks, pause: Duration) -> io::Result<()> {
        for chunk in chunks {
            self.send(chunk).await?;
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
        }
        Ok(())
    }
}

/// A sink that discards everything, for actions before the first request.
struct NullActionSink;

impl HostileActionSink for NullActionSink {
    async fn message(&mut self, _: Bytes) -> io::Result<()> {
        Ok(())
    }

    async fn stream(&mut self, _: ByteChunks, _: Duration) -> io::Result<()> {
        Ok(())
    }
}
