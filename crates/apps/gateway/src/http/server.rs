//! The HTTP server: accepts connections, routes their requests and shuts down in order.

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
use toolgate_host::Client;
use toolgate_wire::Era;

use super::clock::{CoarseClock, HttpConnectionPhase, HttpConnectionState};
use super::connections::{HttpConnections, MonitoredStream};
use super::headers::{SESSION_ID, is_repeated, version_header};
use super::host_allowlist::HostAllowlist;
use super::identity::GatewayUser;
use super::legacy_sse;
use super::response_body::ResponseBody;
use super::responses::{self, rejected, with_status};
use super::sessions::{HttpSession, HttpSessions};
use crate::exchange::RpcResponse;
use crate::gateway::GatewayState;
use crate::peer_quota::{PeerLimits, PeerQuota, PeerQuotaGuard};
use crate::principal::{ClientIdentity, ClientPrincipal, RequestedProfile};
use crate::rejection::Rejection;
use crate::{ConnectionTimeouts, GatewayError};

/// The path of Streamable HTTP.
const MCP: &str = "/mcp";
/// How many headers a request may have, and how large its head may be.
const MAX_HEADERS: usize = 100;
const MAX_HEAD: usize = 32 << 10;
/// How long the last bytes of answers may take at shutdown.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);
/// The response to a client with too many connections.
const TOO_MANY_CONNECTIONS: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\n\
    Content-Length: 0\r\nConnection: close\r\n\r\n";
/// How often shutdown checks for requests in flight.
const DRAIN_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// How many MiB of request bodies may be in transit: two bodies of the largest size for one client,
/// and eight in total.
const UPLOAD_LIMITS: PeerLimits = PeerLimits { total: 512, per_peer: 128 };

/// The server on one listening address.
pub(crate) struct HttpServer {
    pub(crate) gateway: Arc<GatewayState>,
    pub(crate) sessions: HttpSessions,
    pub(crate) sse_clients: Arc<legacy_sse::SseClients>,
    /// The profile for paths that name none.
    default_profile: RequestedProfile,
    allowlist: HostAllowlist,
    pub(crate) owner: GatewayUser,
    clock: Arc<CoarseClock>,
    connections: HttpConnections,
    /// Limits the streams that stay open for as long as the client wants.
    stream_quota: Arc<PeerQuota>,
    /// Limits the request bodies in transit, in MiB.
    pub(crate) upload_quota: Arc<PeerQuota>,
    draining: AtomicBool,
}

/// Serves until `shutdown` is ready.
pub(crate) async fn serve(
    gateway: Arc<GatewayState>,
    default_profile: RequestedProfile,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) -> Result<(), GatewayError> {
    let address = listener.local_addr().map_err(GatewayError::Listen)?;
    let server = Arc::new(HttpServer::new(gateway, default_profile, address));
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

impl HttpServer {
    fn new(
        gateway: Arc<GatewayState>,
        default_profile: RequestedProfile,
        address: SocketAddr,
    ) -> Self {
        let options = &gateway.options;
        let clock = Arc::new(CoarseClock::default());
        Self {
            sessions: HttpSessions::new(
                gateway.sessions.clone(),
                clock.clone(),
                options.sessions,
                options.session_ttl,
            ),
            sse_clients: legacy_sse::SseClients::new(
                clock.clone(),
                options.sessions,
                options.timeouts.idle,
            ),
            default_profile,
            owner: GatewayUser::for_address(address),
            allowlist: HostAllowlist::new(address.port(), &options.hosts, &options.origins),
            connections: HttpConnections::new(options.connections),
            // A quarter of all connections stays free for requests.
            stream_quota: PeerQuota::new(PeerLimits::from_total(
                options.connections.div_ceil(4) * 3,
                6,
            )),
            upload_quota: PeerQuota::new(UPLOAD_LIMITS),
            clock,
            draining: AtomicBool::new(false),
            gateway,
        }
    }

    /// Accepts connections and never returns.
    async fn accept(self: &Arc<Self>, listener: &TcpListener, closed: &watch::Receiver<bool>) {
        loop {
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                // The connection broke at once, or no descriptor is left. Later ones may still
                // work.
                Err(error) => {
                    tracing::warn!(target: "toolgate::gateway", %error, "cannot accept a client");
                    sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let peer = Arc::new(self.owner.identify_peer(&stream));
            if !self.connections.admit(&peer) {
                tokio::spawn(reject_connection(stream));
                continue;
            }
            let Some(slot) = self.connections.acquire_slot().await else { return };
            let state = Arc::new(HttpConnectionState::new(self.clock.clone(), peer));
            let served = self.clone().serve_connection(stream, state.clone(), closed.clone(), slot);
            self.connections.watch(tokio::spawn(served), state);
        }
    }

    /// Advances the clock and closes what is overdue, periodically. Never returns.
    async fn sweep(&self) {
        let began = Instant::now();
        let mut ticks = interval(sweep_interval(&self.gateway.options.timeouts));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.clock.set(began.elapsed());
            self.connections.sweep(&self.gateway.options.timeouts);
            let is_revoked = |principal: &ClientPrincipal| self.is_revoked(principal);
            self.sessions.sweep(is_revoked);
            self.sse_clients.sweep(is_revoked);
            self.gateway.modern.forget_principals(is_revoked);
        }
    }

    async fn serve_connection(
        self: Arc<Self>,
        stream: TcpStream,
        state: Arc<HttpConnectionState>,
        mut closed: watch::Receiver<bool>,
        _slot: OwnedSemaphorePermit,
    ) {
        // Small answers are sent without delay.
        let _ = stream.set_nodelay(true);
        // This happens once per connection and before its first request. A request may need
        // approval, and the process that sent it must not give that approval.
        if let (Ok(ours), Ok(peer)) = (stream.local_addr(), stream.peer_addr()) {
            self.gateway.options.clients.record_connection(ours, peer).await;
        }
        let io = TokioIo::new(MonitoredStream { stream, state: state.clone() });
        let service = service_fn(|request| self.clone().respond(request, state.clone()));
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
            tracing::debug!(target: "toolgate::gateway", %error, "connection ended with an error");
        }
    }

    async fn respond(
        self: Arc<Self>,
        request: Request<Incoming>,
        state: Arc<HttpConnectionState>,
    ) -> Result<Response<ResponseBody>, Infallible> {
        state.set_phase(HttpConnectionPhase::Serving);
        let response = self.route(request, &state).await;
        // An event stream sets the phase itself when it ends.
        if !matches!(response.body(), ResponseBody::Events(_)) {
            state.set_phase(HttpConnectionPhase::Idle);
        }
        Ok(response)
    }

    /// Checks framing, Host and Origin, then dispatches by path.
    async fn route(
        &self,
        request: Request<Incoming>,
        state: &Arc<HttpConnectionState>,
    ) -> Response<ResponseBody> {
        let admitted =
            check_framing(request.headers(), state).and_then(|()| self.allowlist.check(&request));
        if let Err(refused) = admitted {
            return rejected(&refused, "");
        }
        let (path, profile) = split_profile(request.uri().path());
        let profile = match self.requested_profile(profile) {
            Ok(profile) => profile,
            Err(refused) => return rejected(&refused, ""),
        };
        match path {
            MCP => self.handle_mcp(request, profile, state).await,
            legacy_sse::STREAM_PATH | legacy_sse::MESSAGES_PATH if !self.is_modern_only() => {
                self.handle_sse(request, profile, state).await
            }
            "/healthz" => self.handle_health(request.method()),
            _ => {
                let error = "no such path; MCP is served at /mcp";
                rejected(&Rejection::new(StatusCode::NOT_FOUND, error), "")
            }
        }
    }

    /// Returns the profile that a path names, or the default if it names none.
    fn requested_profile(&self, profile: Option<&str>) -> Result<RequestedProfile, Rejection> {
        let Some(profile) = profile else { return Ok(self.default_profile.clone()) };
        let known = self.gateway.gate.choose_profile(Some(profile), &Client::default());
        known
            .map(Some)
            .map_err(|error| Rejection::new(StatusCode::NOT_FOUND, error.text().into_owned()))
    }

    async fn handle_mcp(
        &self,
        request: Request<Incoming>,
        profile: RequestedProfile,
        state: &Arc<HttpConnectionState>,
    ) -> Response<ResponseBody> {
        let response = match *request.method() {
            _ if is_repeated(request.headers(), &SESSION_ID) => Err(Rejection::new(
                StatusCode::BAD_REQUEST,
                "the request has more than one Mcp-Session-Id header",
            )),
            Method::POST => self.post(request, profile, state).await,
            // Revisions without sessions have neither GET nor DELETE.
            _ if self.is_modern_only() || version_header(request.headers()).is_modern() => {
                return rejected(&wrong_method(), "POST");
            }
            Method::GET => self.get(request.headers(), profile, state),
            Method::DELETE => self.delete(request.headers(), profile, state),
            _ => Err(wrong_method()),
        };
        response.unwrap_or_else(|refused| rejected(&refused, "GET, POST, DELETE"))
    }

    fn is_modern_only(&self) -> bool {
        self.gateway.options.strict.is_some_and(|only| only.era() == Era::Modern)
    }

    fn handle_health(&self, method: &Method) -> Response<ResponseBody> {
        if method != Method::GET {
            return rejected(&wrong_method(), "GET");
        }
        let draining = self.draining.load(Ordering::Relaxed);
        let health = json!({
            "status": if draining { "draining" } else { "ok" },
            "sessions": self.gateway.sessions.len(),
            "servers": (self.gateway.options.health)(),
        });
        let status = if draining { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
        with_status(responses::json(RpcResponse::from_message(health.to_string().into())), status)
    }

    /// Returns the session that a request names, or `None` if it names none.
    pub(crate) fn find_session(
        &self,
        headers: &HeaderMap,
        identity: &ClientIdentity,
    ) -> Result<Option<Arc<HttpSession>>, Rejection> {
        let Some(id) = headers.get(SESSION_ID) else { return Ok(None) };
        let found = self.sessions.find(id, identity);
        found.map(Some).ok_or_else(unknown_session)
    }

    /// Reserves one of the streams that may stay open for as long as the client wants.
    pub(crate) fn acquire_stream(
        &self,
        identity: &ClientIdentity,
    ) -> Result<PeerQuotaGuard, Rejection> {
        self.stream_quota.acquire(identity.peer_id()).ok_or_else(|| {
            let error = "too many event streams are open; close those that are not read";
            Rejection::new(StatusCode::TOO_MANY_REQUESTS, error)
        })
    }

    /// Lets requests in flight finish, then ends the streams and the connections.
    async fn drain(&self, closing: &watch::Sender<bool>) {
        self.draining.store(true, Ordering::Relaxed);
        closing.send_replace(true);
        self.gateway.modern.subscribers.end(ClientPrincipal::is_http);
        let settled = async {
            while self.sessions.in_flight() > 0
                || self.sse_clients.in_flight() > 0
                || self.gateway.modern.in_flight() > 0
            {
                sleep(DRAIN_POLL_INTERVAL).await;
            }
        };
        let _ = timeout(self.gateway.options.drain_timeout, settled).await;
        self.sessions.close_all();
        self.sse_clients.close_all();
        self.gateway.modern.forget_principals(ClientPrincipal::is_http);
        let _ = timeout(FLUSH_TIMEOUT, self.connections.wait_closed()).await;
    }
}

/// Tells a client to close some of its connections. It answers after the request has begun, because
/// clients drop an answer without a request. It then reads the rest of the request: closing a
/// socket with unread bytes resets it, and the client would lose the answer.
async fn reject_connection(mut stream: TcpStream) {
    let answer = async {
        stream.peek(&mut [0]).await?;
        stream.write_all(TOO_MANY_CONNECTIONS).await?;
        stream.shutdown().await?;
        tokio::io::copy(&mut stream, &mut tokio::io::sink()).await
    };
    let _ = timeout(FLUSH_TIMEOUT, answer).await;
}

/// Splits a path into the part before the profile name and the profile, if it names one. Profile
/// names need no decoding.
fn split_profile(path: &str) -> (&str, Option<&str>) {
    for root in [MCP, legacy_sse::STREAM_PATH] {
        let named = path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
        if let Some(profile) = named.filter(|name| !name.is_empty() && !name.contains('/')) {
            return (root, Some(profile));
        }
    }
    (path, None)
}

/// Rejects a body with both `Content-Length` and `Transfer-Encoding`, because a proxy may believe
/// the other one. hyper hides the length of such a request, so this inspects the raw head.
fn check_framing(headers: &HeaderMap, state: &HttpConnectionState) -> Result<(), Rejection> {
    if !headers.contains_key(TRANSFER_ENCODING) {
        state.forget_head();
        return Ok(());
    }
    match state.take_declared_length() {
        false => Ok(()),
        true => Err(Rejection::new(
            StatusCode::BAD_REQUEST,
            "the body has both Content-Length and Transfer-Encoding; send one of them",
        )),
    }
}

/// Returns the interval of the sweep: a quarter of the shortest timeout, within bounds.
fn sweep_interval(timeouts: &ConnectionTimeouts) -> Duration {
    let shortest = timeouts.head.min(timeouts.idle).min(timeouts.stall);
    (shortest / 4).clamp(Duration::from_millis(10), Duration::from_secs(1))
}

/// The request must name its session.
pub(crate) fn missing_session() -> Rejection {
    Rejection::new(StatusCode::BAD_REQUEST, "the request names no session; send initialize first")
}

/// The session does not exist, or belongs to another client.
pub(crate) fn unknown_session() -> Rejection {
    Rejection::new(StatusCode::NOT_FOUND, "no such session; initialize again")
}

pub(crate) fn wrong_method() -> Rejection {
    Rejection::new(StatusCode::METHOD_NOT_ALLOWED, "this method is not allowed here")
}
