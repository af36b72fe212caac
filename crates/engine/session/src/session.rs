//! The session itself: open, call, list, close.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use toolgate_model::{CapabilityKind, Definition, Timeouts};
use toolgate_transport::http::Endpoint;
use toolgate_wire::{Frame, Kind, Limits, Span, build, view};

use crate::core::{Core, Link};
use crate::http::HttpLink;
use crate::line::LineLink;
use crate::{Interactor, Opening, SessionError, Welcome};
use crate::{asks, handshake, http, line, listing, timing, url_required};

/// How long a server may take to answer for its standing stream before we go on without.
const STANDING: Duration = Duration::from_millis(500);

/// A request on its way to the server.
pub struct Outbound {
    /// The request as the caller sent it.
    pub frame: Frame,
    /// One span of it to be replaced by other raw JSON: the name or URI the server knows.
    pub rename: Option<(Span, Bytes)>,
    /// Who is told and asked meanwhile.
    pub port: Arc<dyn Interactor>,
}

/// One initialised connection to one server.
pub struct Session {
    core: Arc<Core>,
    welcome: Welcome,
    reader: Option<JoinHandle<()>>,
}

impl Session {
    /// Opens a session on a pair of byte streams.
    pub async fn on_lines<R, W>(input: R, output: W, opening: Opening) -> Result<Self, SessionError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let core = Core::new(&opening, Link::Line(LineLink::new(output)));
        let reader = line::read(core.clone(), input);
        Self::start(core, Some(reader), &opening).await
    }

    /// Opens a session on an HTTP endpoint.
    pub async fn on_http(endpoint: Endpoint, opening: Opening) -> Result<Self, SessionError> {
        let link = Arc::new(HttpLink::new(endpoint));
        let core = Core::new(&opening, Link::Http(link.clone()));
        let mut session = Self::start(core.clone(), None, &opening).await?;
        let (reader, opened) = http::listen(core, link);
        session.reader = Some(reader);
        // What a server sends to whichever stream comes next must not find this one late, amid the
        // first calls; but it need not have one, or need not say so soon.
        let _ = tokio::time::timeout(STANDING, opened).await;
        Ok(session)
    }

    async fn start(
        core: Arc<Core>,
        reader: Option<JoinHandle<()>>,
        opening: &Opening,
    ) -> Result<Self, SessionError> {
        let unknown = Welcome {
            protocol: toolgate_wire::Revision::LATEST_LEGACY,
            capabilities: Bytes::new(),
            server_info: Bytes::new(),
            instructions: None,
        };
        let mut session = Self { core, welcome: unknown, reader };
        let core = session.core.clone();
        session.welcome = handshake::shake(&session, &core, &opening.capabilities).await?;
        Ok(session)
    }

    /// What the server said when it let us in.
    pub fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// Why the connection is over, if it is.
    pub fn ended(&self) -> Option<String> {
        self.core.flights.ended()
    }

    /// How many lines the server wrote that were no messages.
    pub fn noise(&self) -> u64 {
        match &self.core.link {
            Link::Line(link) => link.noise(),
            Link::Http(_) => 0,
        }
    }

    /// Sends a request and waits for its answer, which bears this session's own id. Dropping the
    /// future cancels the request at the server.
    pub async fn call(&self, outbound: &Outbound) -> Result<Frame, SessionError> {
        for _ in 1..url_required::MAX_ROUNDS {
            let answer = self.once(outbound, self.core.timeouts).await?;
            let Some(demanded) = url_required::demanded(&answer) else { return Ok(answer) };
            let run = Box::pin(url_required::run(&self.core, &outbound.port, &demanded));
            if !matches!(tokio::time::timeout(self.core.timeouts.max, run).await, Ok(true)) {
                return Ok(answer);
            }
        }
        self.once(outbound, self.core.timeouts).await
    }

    async fn once(&self, outbound: &Outbound, timeouts: Timeouts) -> Result<Frame, SessionError> {
        let core = &self.core;
        core.flights.clear().await;
        let id = core.next_id();
        let frame = &outbound.frame;
        let token = frame.progress_token().map(|token| token.raw().into());
        let landed = core.flights.depart(id, outbound.port.clone(), token)?;
        let mut flight = InFlight { core, id, landed: false };
        let body = encode(outbound, id)?;
        let answer = async {
            match &core.link {
                Link::Line(link) => {
                    link.send(&body);
                    landed.await.unwrap_or_else(|_| Err(SessionError::Ended("it is gone".into())))
                }
                Link::Http(link) => tokio::select! {
                    answer = http::call(core, link, id, body) => answer,
                    Ok(answer) = landed => answer,
                },
            }
        };
        let outcome = tokio::select! {
            biased;
            outcome = answer => outcome,
            late = timing::overdue(&core.flights, id, timeouts) => {
                drop(flight);
                return Err(late);
            }
        };
        flight.landed = true;
        outcome
    }

    /// Sends a request of our own, with nobody behind it.
    pub async fn request(
        &self,
        method: &str,
        params: Option<&[u8]>,
    ) -> Result<Frame, SessionError> {
        self.request_within(self.core.timeouts, method, params).await
    }

    pub(crate) async fn request_within(
        &self,
        timeouts: Timeouts,
        method: &str,
        params: Option<&[u8]>,
    ) -> Result<Frame, SessionError> {
        let request = build::request("0", method, params);
        let frame = Frame::parse(request, &Limits::default())?;
        let port = self.core.ambient.clone();
        self.once(&Outbound { frame, rename: None, port }, timeouts).await
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, params: Option<&[u8]>) {
        self.core.post(build::notification(method, params));
    }

    /// Everything the server offers of one kind, all pages.
    pub async fn list(&self, kind: CapabilityKind) -> Result<Vec<Definition>, SessionError> {
        listing::all(self, kind).await
    }

    /// Says goodbye: ends the HTTP session, or closes the stream to the process.
    pub async fn close(&self) {
        match &self.core.link {
            Link::Line(link) => link.close(),
            Link::Http(link) => link.delete().await,
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Link::Line(link) = &self.core.link {
            link.close();
        }
        self.core.flights.end("the session was closed");
        self.core.asks.abort_all();
        if let Some(reader) = &self.reader {
            reader.abort();
        }
    }
}

/// A call that is cancelled at the server unless it landed.
struct InFlight<'a> {
    core: &'a Arc<Core>,
    id: u64,
    landed: bool,
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if self.core.flights.forget(self.id) && !self.landed {
            self.core.cancel(self.id, "the caller no longer waits");
        }
        self.core.asks.abort_of(self.id);
        asks::settle(self.core);
    }
}

/// The request as the server gets it: our id, our progress token, its own name for the capability.
fn encode(outbound: &Outbound, id: u64) -> Result<Bytes, SessionError> {
    let frame = &outbound.frame;
    let id = id.to_string();
    let mut edit = frame.edit().replace_id(&id);
    if let Some(token) = frame.progress_token_span() {
        edit = edit.replace(token, id.as_bytes());
    }
    if let Some((span, raw)) = &outbound.rename {
        edit = edit.replace(*span, raw);
    }
    Ok(edit.finish()?)
}

/// Turns an error answer into an error.
pub(crate) fn fail_on_error(frame: Frame) -> Result<Frame, SessionError> {
    if frame.kind() != Kind::Failure {
        return Ok(frame);
    }
    let error = frame.error().and_then(view::RpcError::of);
    Err(match error {
        Some(error) => SessionError::Refused {
            code: error.code.unwrap_or_default(),
            message: error.message.unwrap_or_default().into_owned(),
        },
        None => SessionError::Protocol("its error cannot be read".into()),
    })
}
