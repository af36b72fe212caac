//! The server: accepts connections, routes their requests, and ends in good order.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::header::TRANSFER_ENCODING;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use toolgate_wire::Era;

use super::answer::{Refused, document, with_status};
use super::clock::{Clock, Phase, Pulse};
use super::connections::{Connections, Watched};
use super::doors::Doors;
use super::headers::{SESSION_ID, label, named_twice};
use super::identity::Owner;
use super::old;
use super::payload::Payload;
use super::sessions::{HttpSession, Sessions};
use crate::gateway::Hub;
use crate::principal::{Comer, Place, Principal};
use crate::shares::{Share, ShareLimits, Shares};
use crate::upstreams::{Client, Refusal};
use crate::{Cuts, GatewayError};

/// Where MCP is.
const MCP: &str = "/mcp";
/// How many headers a request may have, and how large its head may be.
const MAX_HEADERS: usize = 100;
const MAX_HEAD: usize = 32 << 10;
/// How long the last bytes of answers may take when the server ends.
const LAST_BYTES: Duration = Duration::from_secs(1);
/// What a client is told that has too many connections.
const TURNED_AWAY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\n\
    Content-Length: 0\r\nConnection: close\r\n\r\n";
/// How often it is looked whether requests are still in flight when the server ends.
const SETTLING: Duration = Duration::from_millis(10);

/// How much may be on its way to us at once, in MiB: two bodies of the largest size of one client, and
/// eight in all.
const UPLOADS: ShareLimits = ShareLimits { most: 512, per_peer: 128 };

/// One listening address.
pub(crate) struct Server {
    pub(crate) hub: Arc<Hub>,
    pub(crate) sessions: Sessions,
    pub(crate) old: Arc<old::Clients>,
    /// What is shown at a place that names no profile.
    showing: Place,
    doors: Doors,
    pub(crate) owner: Owner,
    clock: Arc<Clock>,
    connections: Connections,
    /// Streams that stand as long as their clients like.
    streams: Arc<Shares>,
    /// Bodies that are being received, in MiB.
    pub(crate) uploads: Arc<Shares>,
    draining: AtomicBool,
}

/// Serves until `shutdown` is ready.
pub(crate) async fn serve(
    hub: Arc<Hub>,
    showing: Place,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) -> Result<(), GatewayError> {
    let address = listener.local_addr().map_err(GatewayError::Listen)?;
    let server = Arc::new(Server::new(hub, showing, address));
    let (closing, closed) = watch::channel(false);
    tokio::select! {
        () = server.accept(&listener, &closed) => {}
        () = server.sweep() => {}
        () = shutdown => {}
    }
    drop(listener);
    server.drain(&closing).await;
    Ok(())
}

impl Server {
    fn new(hub: Arc<Hub>, showing: Place, address: SocketAddr) -> Self {
        let options = &hub.options;
        let clock = Arc::new(Clock::default());
        Self {
            sessions: Sessions::new(
                hub.registry.clone(),
                clock.clone(),
                options.sessions,
                options.session_ttl,
            ),
            old: old::Clients::new(clock.clone(), options.sessions, options.cuts.idle),
            showing,
            owner: Owner::at(address),
            doors: Doors::new(address.port(), &options.hosts, &options.origins),
            connections: Connections::new(options.connections),
            // A quarter of all connections is left for requests.
            streams: Shares::new(ShareLimits::of(options.connections.div_ceil(4) * 3, 6)),
            uploads: Shares::new(UPLOADS),
            clock,
            draining: AtomicBool::new(false),
            hub,
        }
    }

    /// Accepts connections for ever.
    async fn accept(self: &Arc<Self>, listener: &TcpListener, closed: &watch::Receiver<bool>) {
        loop {
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                // A connection that broke at once, or no descriptor left: others may still work.
                Err(error) => {
                    tracing::warn!(target: "toolgate::gateway", %error, "failed to accept");
                    sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let peer = Arc::new(self.owner.look_at(&stream));
            if !self.connections.admit(&peer) {
                tokio::spawn(turn_away(stream));
                continue;
            }
            let Some(slot) = self.connections.slot().await else { return };
            let pulse = Arc::new(Pulse::new(self.clock.clone(), peer));
            let served = self.clone().connection(stream, pulse.clone(), closed.clone(), slot);
            self.connections.watch(tokio::spawn(served), pulse);
        }
    }

    /// Sets the clock and ends what is overdue, for ever.
    async fn sweep(&self) {
        let began = Instant::now();
        let mut ticks = interval(pace(&self.hub.options.cuts));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.clock.set(began.elapsed());
            self.connections.sweep(&self.hub.options.cuts);
            let is_barred = |principal: &Principal| self.is_barred(principal);
            self.sessions.sweep(is_barred);
            self.old.sweep(is_barred);
            self.hub.modern.depart(is_barred);
        }
    }

    async fn connection(
        self: Arc<Self>,
        stream: TcpStream,
        pulse: Arc<Pulse>,
        mut closed: watch::Receiver<bool>,
        _slot: OwnedSemaphorePermit,
    ) {
        // Small answers must not wait for more to come.
        let _ = stream.set_nodelay(true);
        // Once for each connection, and before its first request: what it asks for may have to be
        // approved, and not by the process that asked.
        if let (Ok(ours), Ok(peer)) = (stream.local_addr(), stream.peer_addr()) {
            self.hub.options.clients.record_connection(ours, peer).await;
        }
        let io = TokioIo::new(Watched::new(stream, pulse.clone()));
        let service = service_fn(|request| self.clone().respond(request, pulse.clone()));
        let connection = http1::Builder::new()
            .max_headers(MAX_HEADERS)
            .max_header_size(MAX_HEAD)
            .header_read_timeout(None) // the sweep does it without a timer per request
            .serve_connection(io, service);
        let mut connection = pin!(connection);
        let ended = tokio::select! {
            ended = &mut connection => ended,
            _ = closed.changed() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(target: "toolgate::gateway", %error, "a connection ended early");
        }
    }

    async fn respond(
        self: Arc<Self>,
        request: Request<Incoming>,
        pulse: Arc<Pulse>,
    ) -> Result<Response<Payload>, Infallible> {
        pulse.enter(Phase::Serving);
        let response = self.route(request, &pulse).await;
        // The body of an event stream says itself when it has ended.
        if !matches!(response.body(), Payload::Events(_)) {
            pulse.enter(Phase::Idle);
        }
        Ok(response)
    }

    /// The doors first, then path and method.
    async fn route(&self, request: Request<Incoming>, pulse: &Arc<Pulse>) -> Response<Payload> {
        let admitted =
            one_framing(request.headers(), pulse).and_then(|()| self.doors.admit(&request));
        if let Err(refused) = admitted {
            return refused.into_response("");
        }
        let (entrance, profile) = entrance(request.uri().path());
        let place = match self.place(profile) {
            Ok(place) => place,
            Err(refused) => return refused.into_response(""),
        };
        match entrance {
            MCP => self.mcp(request, place, pulse).await,
            old::STREAM | old::MESSAGES if !self.modern_only() => {
                self.old(request, place, pulse).await
            }
            "/healthz" => self.health(request.method()),
            _ => Refused::new(StatusCode::NOT_FOUND, "there is nothing here; MCP is at /mcp")
                .into_response(""),
        }
    }

    /// The place of a profile, if there is one of this name.
    fn place(&self, profile: Option<&str>) -> Result<Place, Refused> {
        let Some(profile) = profile else { return Ok(self.showing.clone()) };
        let known = self.hub.upstreams().choose(Some(profile), &Client::default());
        let unknown = |refusal: Refusal| Refused::new(StatusCode::NOT_FOUND, refusal.message);
        known.map(Some).map_err(unknown)
    }

    async fn mcp(
        &self,
        request: Request<Incoming>,
        place: Place,
        pulse: &Arc<Pulse>,
    ) -> Response<Payload> {
        let response = match *request.method() {
            _ if named_twice(request.headers(), &SESSION_ID) => Err(Refused::new(
                StatusCode::BAD_REQUEST,
                "the request names two sessions; send one Mcp-Session-Id",
            )),
            Method::POST => self.post(request, place, pulse).await,
            // Revisions without sessions have neither of the others.
            _ if self.without_sessions(request.headers()) => {
                return wrong_method().into_response("POST");
            }
            Method::GET => self.get(request.headers(), place, pulse),
            Method::DELETE => self.delete(request.headers(), place, pulse),
            _ => Err(wrong_method()),
        };
        response.unwrap_or_else(|refused| refused.into_response("GET, POST, DELETE"))
    }

    fn without_sessions(&self, headers: &HeaderMap) -> bool {
        self.modern_only() || label(headers).is_modern()
    }

    fn modern_only(&self) -> bool {
        self.hub.options.strict.is_some_and(|only| only.era() == Era::Modern)
    }

    fn health(&self, method: &Method) -> Response<Payload> {
        if method != Method::GET {
            return wrong_method().into_response("GET");
        }
        let draining = self.draining.load(Ordering::Relaxed);
        let health = json!({
            "status": if draining { "draining" } else { "ok" },
            "sessions": self.hub.registry.len(),
            "servers": self.hub.options.health.summary(),
        });
        let status = if draining { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
        with_status(document(health.to_string()), status)
    }

    /// The session a request names; none if it names none.
    pub(crate) fn session_of(
        &self,
        headers: &HeaderMap,
        comer: &Comer,
    ) -> Result<Option<Arc<HttpSession>>, Refused> {
        let Some(id) = headers.get(SESSION_ID) else { return Ok(None) };
        let found = self.sessions.find(id, comer);
        found.map(Some).ok_or_else(unknown_session)
    }

    /// The right to one more stream that stands as long as its client likes.
    pub(crate) fn stream_share(&self, comer: &Comer) -> Result<Share, Refused> {
        self.streams.take(comer.peer_id()).ok_or_else(|| {
            let error = "too many event streams are open; close those that are not read";
            Refused::new(StatusCode::TOO_MANY_REQUESTS, error)
        })
    }

    /// How many requests are in flight, of clients of all kinds.
    fn in_flight(&self) -> usize {
        self.sessions.in_flight() + self.old.in_flight() + self.hub.modern.in_flight()
    }

    /// Lets requests in flight finish, then ends the streams and the connections.
    async fn drain(&self, closing: &watch::Sender<bool>) {
        self.draining.store(true, Ordering::Relaxed);
        closing.send_replace(true);
        self.hub.modern.dismiss(Principal::over_http);
        let settled = async {
            while self.in_flight() > 0 {
                sleep(SETTLING).await;
            }
        };
        let _ = timeout(self.hub.options.drain, settled).await;
        self.sessions.end_all();
        self.old.end_all();
        self.hub.modern.depart(Principal::over_http);
        let _ = timeout(LAST_BYTES, self.connections.ended()).await;
    }
}

/// Tells a client that has too many connections to close some. It answers once the request begins,
/// because clients drop an answer that they have not asked for. The rest of the request is read and
/// dropped: closing a socket with unread bytes resets it, and the client would lose the answer.
async fn turn_away(mut stream: TcpStream) {
    let told = async {
        stream.peek(&mut [0]).await?;
        stream.write_all(TURNED_AWAY).await?;
        stream.shutdown().await?;
        tokio::io::copy(&mut stream, &mut tokio::io::sink()).await
    };
    let _ = timeout(LAST_BYTES, told).await;
}

/// A path without the profile it names at its end, and that profile. Names of profiles need no
/// decoding.
fn entrance(path: &str) -> (&str, Option<&str>) {
    for entrance in [MCP, old::STREAM] {
        let named = path.strip_prefix(entrance).and_then(|rest| rest.strip_prefix('/'));
        if let Some(profile) = named.filter(|name| !name.is_empty() && !name.contains('/')) {
            return (entrance, Some(profile));
        }
    }
    (path, None)
}

/// Refuses a body whose length is said in two ways: whoever stands between us and the client may
/// believe the other one. hyper hides the length of such a request, so the head is looked at.
fn one_framing(headers: &HeaderMap, pulse: &Pulse) -> Result<(), Refused> {
    if !headers.contains_key(TRANSFER_ENCODING) {
        pulse.forget_head();
        return Ok(());
    }
    match pulse.take_declared_length() {
        false => Ok(()),
        true => Err(Refused::new(
            StatusCode::BAD_REQUEST,
            "the body is framed twice; send Content-Length or Transfer-Encoding",
        )),
    }
}

/// How often the sweep looks: often enough for the shortest wait, but not more than needed.
fn pace(cuts: &Cuts) -> Duration {
    let shortest = cuts.head.min(cuts.idle).min(cuts.stall);
    (shortest / 4).clamp(Duration::from_millis(10), Duration::from_secs(1))
}

/// The request must name its session.
pub(crate) fn missing_session() -> Refused {
    Refused::new(StatusCode::BAD_REQUEST, "the request names no session; initialize first")
}

/// The session is not there, or not for this caller.
pub(crate) fn unknown_session() -> Refused {
    Refused::new(StatusCode::NOT_FOUND, "no such session; initialize again")
}

pub(crate) fn wrong_method() -> Refused {
    Refused::new(StatusCode::METHOD_NOT_ALLOWED, "this method is not allowed here")
}
