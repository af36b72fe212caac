//! The server: accepts connections, routes their requests, and ends in good order.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::{HeaderMap, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use toolgate_wire::Era;

use super::answer::{Refused, document, with_status};
use super::clock::{Clock, Phase, Pulse};
use super::connections::{Connections, Watched};
use super::doors::Doors;
use super::headers::{Comer, Place, Principal, SESSION_ID, label};
use super::old;
use super::payload::Payload;
use super::sessions::{HttpSession, Sessions};
use crate::gateway::Hub;
use crate::upstreams::{Client, Refusal};
use crate::{Cuts, GatewayError};

/// Where MCP is.
const MCP: &str = "/mcp";
/// How many headers a request may have, and how large its head may be.
const MAX_HEADERS: usize = 100;
const MAX_HEAD: usize = 32 << 10;
/// How long the last bytes of answers may take when the server ends.
const LAST_BYTES: Duration = Duration::from_secs(1);
/// How often it is looked whether requests are still in flight when the server ends.
const SETTLING: Duration = Duration::from_millis(10);

/// One listening address.
pub(crate) struct Server {
    pub(crate) hub: Arc<Hub>,
    pub(crate) sessions: Sessions,
    pub(crate) old: Arc<old::Clients>,
    /// What is shown at a place that names no profile.
    showing: Place,
    doors: Doors,
    clock: Arc<Clock>,
    connections: Connections,
    draining: AtomicBool,
}

/// Serves until `shutdown` is ready.
pub(crate) async fn serve(
    hub: Arc<Hub>,
    showing: Place,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) -> Result<(), GatewayError> {
    let port = listener.local_addr().map_err(GatewayError::Listen)?.port();
    let server = Arc::new(Server::new(hub, showing, port));
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
    fn new(hub: Arc<Hub>, showing: Place, port: u16) -> Self {
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
            doors: Doors::new(port, &options.hosts, &options.origins),
            connections: Connections::new(options.connections),
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
            let Some(slot) = self.connections.slot().await else { return };
            let pulse = Arc::new(Pulse::new(self.clock.clone()));
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
            self.sessions.sweep();
            self.old.sweep();
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
        if let Err(refused) = self.doors.admit(&request) {
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
            Method::POST => self.post(request, place, pulse).await,
            // Revisions without sessions have neither of the others.
            _ if self.without_sessions(request.headers()) => {
                return wrong_method().into_response("POST");
            }
            Method::GET => self.get(request.headers(), place, pulse),
            Method::DELETE => self.delete(request.headers(), place),
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
