//! The session itself: open, call, list, subscribe, close.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use toolgate_model::{CapabilityKind, Definition};
use toolgate_transport::http::Endpoint;
use toolgate_wire::{Era, Frame, Kind, Span, build, method, string, view};

use crate::core::{Core, Link};
use crate::exchange::{self, Leg};
use crate::http::HttpLink;
use crate::line::LineLink;
use crate::modern::filter::Offer;
use crate::modern::{self, ear, probe, rounds};
use crate::{Interactor, Opening, Scope, SessionError, Welcome};
use crate::{http, level, line, listing, url_required};

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

/// One open connection to one server.
pub struct Session {
    life: Life,
    welcome: Welcome,
    /// What a modern server reports.
    offer: Offer,
}

/// The connection and the tasks that work for it. Dropping it ends them.
struct Life {
    core: Arc<Core>,
    tasks: Vec<JoinHandle<()>>,
}

impl Session {
    /// Opens a session on a pair of byte streams.
    pub async fn on_lines<R, W>(input: R, output: W, opening: Opening) -> Result<Self, SessionError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let core = Core::new(&opening, Link::Line(LineLink::new(output)));
        let tasks = vec![line::read(core.clone(), input)];
        Self::open(Life { core, tasks }, &opening).await
    }

    /// Opens a session on an HTTP endpoint.
    pub async fn on_http(endpoint: Endpoint, opening: Opening) -> Result<Self, SessionError> {
        let core = Core::new(&opening, Link::Http(Arc::new(HttpLink::new(endpoint))));
        Self::open(Life { core, tasks: Vec::new() }, &opening).await
    }

    async fn open(life: Life, opening: &Opening) -> Result<Self, SessionError> {
        let welcome = probe::open(&life.core, opening).await?;
        let mut session = Self { life, offer: Offer::of(&welcome), welcome };
        // What a server reports to whichever stream comes next must not find this one late, amid
        // the first calls; but it need not have one, or need not say so soon.
        let _ = tokio::time::timeout(STANDING, session.attend()).await;
        Ok(session)
    }

    /// Opens the stream on which the server reports what belongs to no call, if it has one.
    async fn attend(&mut self) {
        let core = &self.life.core;
        match (&core.link, self.welcome.protocol.era()) {
            (_, Era::Modern) => {
                self.life.tasks.extend(ear::start(core.clone(), self.offer.clone()));
                if self.offer.lists() {
                    core.listener.settled().await;
                }
            }
            (Link::Http(link), Era::Legacy) => {
                let (listening, opened) = http::listen(core.clone(), link.clone());
                self.life.tasks.push(listening);
                let _ = opened.await;
            }
            (Link::Line(_), Era::Legacy) => {}
        }
    }

    /// What the server said when it let us in.
    pub fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// Why the connection is over, if it is.
    pub fn ended(&self) -> Option<String> {
        self.life.core.flights.ended()
    }

    /// How many lines the server wrote that were no messages.
    pub fn noise(&self) -> u64 {
        match &self.life.core.link {
            Link::Line(link) => link.noise(),
            Link::Http(_) => 0,
        }
    }

    /// Sends a request and waits for its answer, which bears an id of this session's. What a modern
    /// server asks first is settled on the way. Dropping the future cancels the request at the
    /// server.
    pub async fn call(&self, outbound: &Outbound) -> Result<Frame, SessionError> {
        let core = &self.life.core;
        let is_modern = core.is_modern();
        if is_modern {
            let method = outbound.frame.method().unwrap_or_default();
            if let Some(answer) = modern::answered_here(core, &method) {
                return answer;
            }
        } else if let Some(level) = core.level.lacking(&*outbound.port) {
            Box::pin(level::raise(core, level)).await;
        }
        let answer = exchange::once(core, outbound, Leg::first(core.timeouts)).await?;
        match is_modern {
            true if !rounds::is_final(&answer) => {
                Box::pin(rounds::go_on(core, outbound, answer)).await
            }
            false if answer.kind() == Kind::Failure => {
                Box::pin(url_required::go_on(core, outbound, answer)).await
            }
            _ => Ok(answer),
        }
    }

    /// Whether a question is open that belongs to a call of another scope, or to nobody knows whom.
    /// A call that may ask should then be sent on another connection: on this one its questions
    /// could not be told from the others. They can where every call has a stream of its own, and
    /// they need not be for a caller who can be asked nothing.
    pub fn is_asking_another(&self, port: &dyn Interactor) -> bool {
        let flights = &self.life.core.flights;
        flights.is_asking()
            && self.life.core.shares_questions()
            && (flights.is_holding() || !flights.suits(port.scope()) && port.can_be_asked())
    }

    /// Whether a request and a call of another scope under way here might both ask something, and
    /// nobody could tell whose question is whose. What asked nothing before is taken to ask nothing.
    pub fn may_mingle(&self, port: &dyn Interactor, request: &Frame) -> bool {
        let core = &self.life.core;
        core.shares_questions()
            && core
                .flights
                .kind(request)
                .is_some_and(|kind| core.flights.mingles(port.scope(), kind))
            && port.can_be_asked()
    }

    /// Waits until [`Session::is_asking_another`] is not so, or the connection is over.
    pub async fn suited(&self, scope: Scope) {
        self.life.core.flights.suited(scope).await;
    }

    /// Sends a request of our own, with nobody behind it.
    pub async fn request(
        &self,
        method: &str,
        params: Option<&[u8]>,
    ) -> Result<Frame, SessionError> {
        let core = &self.life.core;
        if method == method::LOGGING_SET_LEVEL {
            core.level.forget();
        }
        if core.is_modern()
            && let Some(answer) = modern::answered_here(core, method)
        {
            return answer;
        }
        exchange::request(core, Leg::own(core.timeouts), method, params).await
    }

    /// Sends a notification, unless the server's revision has no such thing.
    pub fn notify(&self, method: &str, params: Option<&[u8]>) {
        let core = &self.life.core;
        if !core.is_modern() || modern::takes(method) {
            core.post(build::notification(method, params));
        }
    }

    /// Asks to be told, through the owner, when a resource changes.
    pub async fn subscribe(&self, uri: &str) -> Result<(), SessionError> {
        let core = &self.life.core;
        match core.is_modern() {
            true => modern::listen::subscribe(core, &self.offer, uri).await,
            false => self.about(method::RESOURCES_SUBSCRIBE, uri).await,
        }
    }

    /// Takes back [`Session::subscribe`].
    pub async fn unsubscribe(&self, uri: &str) -> Result<(), SessionError> {
        let core = &self.life.core;
        if core.is_modern() {
            core.listener.want(|wanted| wanted.uris.remove(uri));
            return Ok(());
        }
        self.about(method::RESOURCES_UNSUBSCRIBE, uri).await
    }

    async fn about(&self, method: &str, uri: &str) -> Result<(), SessionError> {
        let params = format!("{{\"uri\":{}}}", string::encode(uri));
        self.request(method, Some(params.as_bytes())).await.and_then(fail_on_error).map(drop)
    }

    /// Asks a modern server to report, through the owner, what becomes of a task. `false` if it
    /// does not report such things; asking it is then the only way.
    pub fn watch_task(&self, task: &str) -> bool {
        if self.offer.tasks {
            self.life.core.listener.want(|wanted| wanted.tasks.insert(task.to_owned()));
        }
        self.offer.tasks
    }

    /// Takes back [`Session::watch_task`].
    pub fn unwatch_task(&self, task: &str) {
        self.life.core.listener.want(|wanted| wanted.tasks.remove(task));
    }

    /// Everything the server offers of one kind, all pages.
    pub async fn list(&self, kind: CapabilityKind) -> Result<Vec<Definition>, SessionError> {
        listing::all(&self.life.core, kind).await
    }

    /// Says goodbye: ends the HTTP session, or closes the stream to the process.
    pub async fn close(&self) {
        match &self.life.core.link {
            Link::Line(link) => link.close(),
            Link::Http(link) => link.delete().await,
        }
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        if let Link::Line(link) = &self.core.link {
            link.close();
        }
        self.core.flights.end("the session was closed");
        self.core.asks.abort_all();
        for task in &self.tasks {
            task.abort();
        }
    }
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
