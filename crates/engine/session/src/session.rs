//! The session: open, call, list, subscribe, close.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use toolgate_model::{CapabilityKind, Catalog, Definition};
use toolgate_transport::http::HttpEndpoint;
use toolgate_wire::{Era, Frame, MessageKind, Span, build, method, string, view};

use crate::core::{SessionCore, SessionTransport};
use crate::exchange::{self, SendOptions};
use crate::http::HttpTransport;
use crate::line::LineTransport;
use crate::modern::filter::ServerListenCapabilities;
use crate::modern::{self, listen_task, probe, rounds};
use crate::{CallerId, Interactor, SessionError, SessionOptions};
use crate::{http, line, listing, log_level, url_elicitation};

/// How long to wait for the report stream to open before continuing without it.
const STREAM_OPEN_TIMEOUT: Duration = Duration::from_millis(500);

/// A request to send to the server.
pub struct OutboundRequest {
    /// The request as the caller sent it.
    pub frame: Frame,
    /// A span of the request and the raw JSON that replaces it: the server's own name or URI.
    pub rename: Option<(Span, Bytes)>,
    /// Receives the notifications of the call and answers its questions.
    pub interactor: Arc<dyn Interactor>,
}

/// One open connection to one server.
pub struct Session {
    connection: ConnectionGuard,
    /// What the server reported about itself. The lists are empty.
    handshake: Catalog,
    /// What a modern server can report.
    listen_capabilities: ServerListenCapabilities,
}

/// The connection and its tasks. Dropping it ends them.
struct ConnectionGuard {
    core: Arc<SessionCore>,
    tasks: Vec<JoinHandle<()>>,
}

impl Session {
    /// Opens a session on a pair of byte streams.
    pub async fn on_lines<R, W>(
        input: R,
        output: W,
        opening: SessionOptions,
    ) -> Result<Self, SessionError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let core = SessionCore::new(&opening, SessionTransport::Line(LineTransport::new(output)));
        let tasks = vec![line::read(core.clone(), input)];
        Self::open(ConnectionGuard { core, tasks }, &opening).await
    }

    /// Opens a session on an HTTP endpoint.
    pub async fn on_http(
        endpoint: HttpEndpoint,
        opening: SessionOptions,
    ) -> Result<Self, SessionError> {
        let core = SessionCore::new(
            &opening,
            SessionTransport::Http(Arc::new(HttpTransport::new(endpoint))),
        );
        Self::open(ConnectionGuard { core, tasks: Vec::new() }, &opening).await
    }

    async fn open(life: ConnectionGuard, opening: &SessionOptions) -> Result<Self, SessionError> {
        let welcome = probe::open(&life.core, opening).await?;
        let mut session = Self {
            connection: life,
            listen_capabilities: ServerListenCapabilities::of(&welcome),
            handshake: welcome,
        };
        // Open the stream before the first call, so that no report is missed. Limit the wait,
        // because the server may have no such stream or may be slow to say so.
        let _ = tokio::time::timeout(STREAM_OPEN_TIMEOUT, session.open_report_stream()).await;
        Ok(session)
    }

    /// Opens the stream for reports that belong to no call, if the server has one.
    async fn open_report_stream(&mut self) {
        let core = &self.connection.core;
        match (&core.link, self.handshake.protocol.era()) {
            (_, Era::Modern) => {
                self.connection
                    .tasks
                    .extend(listen_task::start(core.clone(), self.listen_capabilities.clone()));
                if self.listen_capabilities.has_lists() {
                    core.listen_state.wait_settled().await;
                }
            }
            (SessionTransport::Http(link), Era::Legacy) => {
                let (listening, opened) = http::listen(core.clone(), link.clone());
                self.connection.tasks.push(listening);
                let _ = opened.await;
            }
            (SessionTransport::Line(_), Era::Legacy) => {}
        }
    }

    /// Returns what the server reported about itself, with empty lists.
    pub fn handshake(&self) -> &Catalog {
        &self.handshake
    }

    /// Returns why the connection ended, or `None` if it is open.
    pub fn end_reason(&self) -> Option<String> {
        self.connection.core.pending_requests.end_reason()
    }

    /// Returns the number of lines from the server that were not valid messages.
    pub fn invalid_lines(&self) -> u64 {
        match &self.connection.core.link {
            SessionTransport::Line(link) => link.invalid_lines.load(Ordering::Relaxed),
            SessionTransport::Http(_) => 0,
        }
    }

    /// Sends a request and waits for its answer, which carries an id of this session. Answers the
    /// questions that a modern server asks first. Dropping the future cancels the request at the
    /// server.
    pub async fn call(&self, outbound: &OutboundRequest) -> Result<Frame, SessionError> {
        let core = &self.connection.core;
        let is_modern = core.is_modern();
        if is_modern {
            let method = outbound.frame.method().unwrap_or_default();
            if let Some(answer) = modern::answer_locally(core, &method) {
                return answer;
            }
        } else if let Some(level) = core.log_level.missing_level(&*outbound.interactor) {
            Box::pin(log_level::raise(core, level)).await;
        }
        let answer = exchange::send_once(core, outbound, SendOptions::first(core.timeouts)).await?;
        match is_modern {
            true if !rounds::is_final(&answer) => {
                Box::pin(rounds::run_rounds(core, outbound, answer)).await
            }
            false if answer.kind() == MessageKind::Failure => {
                Box::pin(url_elicitation::visit_and_retry(core, outbound, answer)).await
            }
            _ => Ok(answer),
        }
    }

    /// Returns true if a question is open that belongs, or may belong, to a call of another scope.
    /// A call that may ask should then use another connection, because its questions could not be
    /// attributed on this one. Always false if every call has its own stream. An open question does
    /// not matter to a caller that cannot be asked.
    pub fn is_asking_other_scope(&self, port: &dyn Interactor) -> bool {
        let flights = &self.connection.core.pending_requests;
        flights.is_asking()
            && self.connection.core.shares_questions()
            && (flights.is_holding() || !flights.can_attribute(port.scope()) && port.can_be_asked())
    }

    /// Returns true if the request and a pending call of another scope may both ask a question, so
    /// that the questions could not be attributed. A kind of call that asked nothing before is
    /// assumed to ask nothing.
    pub fn may_mix_questions(&self, port: &dyn Interactor, request: &Frame) -> bool {
        let core = &self.connection.core;
        core.shares_questions()
            && core
                .pending_requests
                .kind(request)
                .is_some_and(|kind| core.pending_requests.may_mix_questions(port.scope(), kind))
            && port.can_be_asked()
    }

    /// Waits until [`Session::is_asking_other_scope`] is false for this scope, or the connection
    /// ended.
    pub async fn wait_until_suited(&self, scope: CallerId) {
        self.connection.core.pending_requests.wait_until_suited(scope).await;
    }

    /// Sends a request of the gateway itself.
    pub async fn request(
        &self,
        method: &str,
        params: Option<&[u8]>,
    ) -> Result<Frame, SessionError> {
        let core = &self.connection.core;
        if method == method::LOGGING_SET_LEVEL {
            core.log_level.forget();
        }
        if core.is_modern()
            && let Some(answer) = modern::answer_locally(core, method)
        {
            return answer;
        }
        exchange::request(core, SendOptions::for_own_request(core.timeouts), method, params).await
    }

    /// Sends a notification, unless the server's revision does not define it.
    pub fn notify(&self, method: &str, params: Option<&[u8]>) {
        let core = &self.connection.core;
        if !core.is_modern() || modern::accepts_notification(method) {
            core.post(build::notification(method, params));
        }
    }

    /// Subscribes to a resource. The event handler receives the updates.
    pub async fn subscribe(&self, uri: &str) -> Result<(), SessionError> {
        let core = &self.connection.core;
        match core.is_modern() {
            true => modern::listen_state::subscribe(core, &self.listen_capabilities, uri).await,
            false => self.request_for_uri(method::RESOURCES_SUBSCRIBE, uri).await,
        }
    }

    /// Ends a subscription made with [`Session::subscribe`].
    pub async fn unsubscribe(&self, uri: &str) -> Result<(), SessionError> {
        let core = &self.connection.core;
        if core.is_modern() {
            core.listen_state.update_targets(|wanted| wanted.uris.remove(uri));
            return Ok(());
        }
        self.request_for_uri(method::RESOURCES_UNSUBSCRIBE, uri).await
    }

    async fn request_for_uri(&self, method: &str, uri: &str) -> Result<(), SessionError> {
        let params = format!("{{\"uri\":{}}}", string::encode(uri));
        self.request(method, Some(params.as_bytes())).await.and_then(fail_on_error).map(drop)
    }

    /// Asks a modern server to report the progress of a task to the event handler. Returns false if
    /// the server does not support this; the task must then be polled.
    pub fn watch_task(&self, task: &str) -> bool {
        if self.listen_capabilities.tasks {
            self.connection
                .core
                .listen_state
                .update_targets(|wanted| wanted.tasks.insert(task.to_owned()));
        }
        self.listen_capabilities.tasks
    }

    /// Ends the reports requested by [`Session::watch_task`].
    pub fn unwatch_task(&self, task: &str) {
        self.connection.core.listen_state.update_targets(|wanted| wanted.tasks.remove(task));
    }

    /// Lists everything the server offers of one kind, all pages.
    pub async fn list(&self, kind: CapabilityKind) -> Result<Vec<Definition>, SessionError> {
        listing::all(&self.connection.core, kind).await
    }

    /// Ends the HTTP session, or closes the stream to the process.
    pub async fn close(&self) {
        match &self.connection.core.link {
            SessionTransport::Line(link) => link.close(),
            SessionTransport::Http(link) => link.delete().await,
        }
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        if let SessionTransport::Line(link) = &self.core.link {
            link.close();
        }
        self.core.pending_requests.end("the session was closed");
        self.core.open_questions.abort_all();
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// Converts an error response into an error.
pub(crate) fn fail_on_error(frame: Frame) -> Result<Frame, SessionError> {
    if frame.kind() != MessageKind::Failure {
        return Ok(frame);
    }
    let error = frame.error().and_then(view::RpcError::of);
    Err(match error {
        Some(error) => SessionError::Refused {
            code: error.code.unwrap_or_default(),
            message: error.message.unwrap_or_default().into_owned(),
        },
        None => SessionError::Protocol("the error object is invalid".into()),
    })
}
