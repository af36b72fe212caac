//! Connects to one server: resolves variables, opens the transport, performs the handshake and
//! lists the catalog.
//!
//! The era of a server is probed once and then cached ([`ServerCache`]). A server that exits
//! because of the probe, or because of an `initialize` sent before its answer, is started once more
//! without a probe. A server that was found to be modern is never treated as a legacy one silently.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::{Duration, Instant};

use toolgate_launch::{ChildHandle, ChildProcess, LaunchSpec, Launcher, SHUTDOWN_GRACE};
use toolgate_model::{
    Catalog, ErrorCode, FailurePhase, HttpTransportKind, Mask, Secret, ServerFailure, ServerName,
    ServerSpec, ServerState, StartBlock, StdioSpec, TransportSpec, redact_args, redact_url,
};
use toolgate_session::{
    Session, SessionError, SessionEventHandler, SessionOptions, restrict_sampling,
};
use toolgate_wire::{Era, Frame};

use crate::fleet_server::{ConnectionOwner, FleetServer};
use crate::report::ConnectLog;
use crate::server_cache::ServerCache;
use crate::{builtin, hints, http, listing, masking};

/// An open connection to a server.
pub(crate) struct ServerConnection {
    pub(crate) server: ServerName,
    pub(crate) session: Session,
    pub(crate) child: Option<ChildHandle>,
    /// The secrets to remove from the server's texts.
    pub(crate) mask: Mask,
}

impl ServerConnection {
    /// Returns the end of the process's standard error, masked.
    pub(crate) fn stderr(&self) -> String {
        let mut stderr = self.child.as_ref().map(|child| child.stderr().tail()).unwrap_or_default();
        self.mask.apply_in_place(&mut stderr);
        stderr
    }

    /// Masks the secrets in an error of the session.
    pub(crate) fn mask_error(&self, error: SessionError) -> SessionError {
        masking::mask_error(error, &self.mask)
    }

    /// Masks the secrets in an error response. Returns a result unchanged.
    pub(crate) fn mask_response(&self, frame: Frame) -> Frame {
        masking::mask_response(frame, &self.mask)
    }

    /// Adds the exit status of the process to an error, and returns it with the end of the standard
    /// error. Waits briefly for a process that is about to exit.
    pub(crate) async fn describe_exit(&self, error: SessionError) -> (SessionError, String) {
        if let Some(child) = &self.child {
            let _ = tokio::time::timeout(Duration::from_millis(200), child.wait()).await;
        }
        (self.mask_error(add_exit_status(error, self.child.as_ref())), self.stderr())
    }

    /// Closes the session and shuts the process down gracefully.
    pub(crate) async fn close(&self) {
        let began = Instant::now();
        self.session.close().await;
        let mut status = None;
        if let Some(child) = &self.child {
            child.shutdown(SHUTDOWN_GRACE).await;
            status = child.exit_status();
        }
        let (server, took) = (&self.server, began.elapsed());
        let end = status.map(|status| format!("its process ended ({status})"));
        let end = end.as_deref().unwrap_or("done");
        tracing::debug!(target: "toolgate::session", %server, ?took, "close: {end}");
    }
}

/// How the reports name the transports of connections.
const STDIO: &str = "over stdio";
pub(crate) const STREAMABLE_HTTP: &str = "over Streamable HTTP";
pub(crate) const HTTP_SSE: &str = "over HTTP+SSE";
const IN_PROCESS: &str = "in process";

/// The inputs of one attempt to connect to a server.
pub(crate) struct ConnectAttempt<'a> {
    pub(crate) fleet_server: &'a FleetServer,
    pub(crate) tenant: &'a ConnectionOwner,
    pub(crate) launcher: &'a Launcher,
    pub(crate) cache: &'a ServerCache,
    pub(crate) event_handler: Arc<dyn SessionEventHandler>,
}

/// Why a connection could not be opened.
pub(crate) enum ConnectError {
    /// The transport could not be opened. The failure is already recorded in the log.
    Unavailable(ServerState),
    /// The handshake failed.
    Session {
        error: SessionError,
        /// The end of the process's standard error.
        stderr: String,
    },
}

impl From<SessionError> for ConnectError {
    fn from(error: SessionError) -> Self {
        Self::Session { error, stderr: String::new() }
    }
}

impl ConnectAttempt<'_> {
    /// Connects to the server and lists what it offers. On failure, returns the new server state.
    pub(crate) async fn run(
        &self,
        log: &mut ConnectLog,
    ) -> Result<(ServerConnection, Catalog), ServerState> {
        let (spec, live) = self.connect(log).await?;
        log.begin(FailurePhase::List);
        match listing::list_all(&live).await {
            Ok(catalog) => {
                log.done(FailurePhase::List, Some(listing::summary(&catalog)));
                log.report.stderr = live.stderr();
                Ok((live, catalog))
            }
            Err(error) => {
                let (error, stderr) = live.describe_exit(error).await;
                Err(log.record_failure(hints::failure(&spec, FailurePhase::List, &error, stderr)))
            }
        }
    }

    /// Resolves the variables of the declaration and connects to the server.
    pub(crate) async fn connect(
        &self,
        log: &mut ConnectLog,
    ) -> Result<(ServerSpec, ServerConnection), ServerState> {
        log.begin(FailurePhase::Resolve);
        let spec = match (self.fleet_server.resolve)(&self.fleet_server.spec) {
            Ok(resolved) => {
                log.mask = resolved.mask;
                resolved.spec
            }
            Err(block) => {
                let StartBlock { code, reason: cause, hint } = block.clone();
                let (phase, stderr) = (FailurePhase::Resolve, String::new());
                log.record_failure(ServerFailure { phase, code, cause, stderr, hint });
                return Err(ServerState::Blocked(block));
            }
        };
        log.done(FailurePhase::Resolve, None);
        let live = self.open(&spec, log).await?;
        Ok((spec, live))
    }

    /// Opens a connection in the cached era, or in the era that a probe finds.
    async fn open(
        &self,
        spec: &ServerSpec,
        log: &mut ConnectLog,
    ) -> Result<ServerConnection, ServerState> {
        let known = self.known_era().await;
        let mut reached = self.open_transport(spec, known, log).await;
        if let Err(ConnectError::Session { error: SessionError::Reopen { era, source }, .. }) =
            &reached
            && known.is_none()
        {
            let era = *era;
            log.done(FailurePhase::Initialize, Some(started_again(era, source)));
            reached = self.open_transport(spec, Some(era), log).await;
        }
        match reached {
            Ok((live, carrier)) => {
                let protocol = live.session.handshake().protocol;
                log.step(FailurePhase::Connect, &format!("connected {carrier}"));
                log.done(FailurePhase::Initialize, Some(format!("{protocol} {carrier}")));
                if known.is_none() && needs_era_probe(spec) {
                    self.cache.save_era(&self.fleet_server.spec, Some(protocol.era())).await;
                }
                Ok(live)
            }
            Err(ConnectError::Unavailable(state)) => Err(state),
            Err(ConnectError::Session { error, stderr }) => {
                let doubted =
                    known.filter(|_| needs_era_probe(spec) && hints::contradicts_era(spec, &error));
                if doubted.is_some() {
                    self.cache.save_era(&self.fleet_server.spec, None).await;
                }
                Err(failed(spec, log, &error, stderr, doubted))
            }
        }
    }

    async fn known_era(&self) -> Option<Era> {
        match needs_era_probe(&self.fleet_server.spec) {
            true => self.cache.era(&self.fleet_server.spec).await,
            // Built-in servers declare their era, and HTTP+SSE exists only in the legacy era.
            false => Some(self.fleet_server.built_in.as_ref().map_or(Era::Legacy, |it| it.era())),
        }
    }

    async fn open_transport(
        &self,
        spec: &ServerSpec,
        era: Option<Era>,
        log: &mut ConnectLog,
    ) -> Result<(ServerConnection, &'static str), ConnectError> {
        let opening = || self.session_options(spec, era);
        match &spec.transport {
            TransportSpec::Stdio(stdio) => {
                log.begin(FailurePhase::Launch);
                log.step(FailurePhase::Launch, &self.shown_target());
                let live = self.open_process(spec, stdio, era, log).await?;
                Ok((live, STDIO))
            }
            TransportSpec::Http(http) => {
                log.begin(FailurePhase::Connect);
                log.step(FailurePhase::Connect, &self.shown_target());
                let (session, carrier) = http::open(http, opening, log).await?;
                Ok((self.new_connection(session, None, log), carrier))
            }
            TransportSpec::BuiltIn => {
                let Some(server) = &self.fleet_server.built_in else {
                    let reason = "no built-in server has this name";
                    let block = StartBlock::new(ErrorCode::ConfigCannotStart, reason);
                    return Err(ConnectError::Unavailable(ServerState::Blocked(block)));
                };
                log.begin(FailurePhase::Connect);
                let (input, output) = tokio::io::split(builtin::connect(&**server));
                let session = Session::on_lines(input, output, opening()).await?;
                Ok((self.new_connection(session, None, log), IN_PROCESS))
            }
        }
    }

    async fn open_process(
        &self,
        spec: &ServerSpec,
        stdio: &StdioSpec,
        era: Option<Era>,
        log: &mut ConnectLog,
    ) -> Result<ServerConnection, ConnectError> {
        let started =
            self.launcher.start(&command(spec, stdio, &log.mask)).await.map_err(|error| {
                let failure = ServerFailure::new(FailurePhase::Launch, &error);
                ConnectError::Unavailable(log.record_failure(failure))
            })?;
        let ChildProcess { stdin, stdout, handle: child } = started;
        log.done(FailurePhase::Launch, Some(format!("process {}", child.pid())));
        log.begin(FailurePhase::Initialize);
        log.step(FailurePhase::Connect, STDIO);
        match Session::on_lines(stdout, stdin, self.session_options(spec, era)).await {
            Ok(session) => Ok(self.new_connection(session, Some(child), log)),
            Err(error) => {
                // The process may be about to exit.
                let _ = tokio::time::timeout(Duration::from_millis(300), child.wait()).await;
                let stderr = child.stderr().tail();
                Err(ConnectError::Session { error: add_exit_status(error, Some(&child)), stderr })
            }
        }
    }

    fn new_connection(
        &self,
        session: Session,
        child: Option<ChildHandle>,
        log: &ConnectLog,
    ) -> ServerConnection {
        ServerConnection {
            server: self.fleet_server.spec.name.clone(),
            session,
            child,
            mask: log.mask.clone(),
        }
    }

    /// Returns the command line or URL as declared, with variables unexpanded and secrets redacted.
    fn shown_target(&self) -> String {
        match &self.fleet_server.spec.transport {
            TransportSpec::Stdio(stdio) => {
                let words = [std::slice::from_ref(&stdio.command), &stdio.args[..]].concat();
                redact_args(&words).join(" ")
            }
            TransportSpec::Http(http) => redact_url(&http.url),
            TransportSpec::BuiltIn => String::new(),
        }
    }

    fn session_options(&self, spec: &ServerSpec, era: Option<Era>) -> SessionOptions {
        SessionOptions {
            server: spec.name.clone(),
            timeouts: spec.timeouts,
            capabilities: restrict_sampling(
                self.tenant.capabilities.clone(),
                spec.sampling.is_some(),
            ),
            default_interactor: self.tenant.default_interactor.clone(),
            event_handler: self.event_handler.clone(),
            era,
        }
    }
}

/// Describes why a server is started a second time. The probe need not be the cause of its exit.
fn started_again(era: Era, ended: &SessionError) -> String {
    let during = match era {
        Era::Modern => "the server speaks 2026-07-28 but was initialized as an older one",
        Era::Legacy => "the revision probe did not succeed",
    };
    format!("{during}: {ended}; started again without a probe")
}

/// Returns true if the era of the server must be probed.
fn needs_era_probe(spec: &ServerSpec) -> bool {
    match &spec.transport {
        TransportSpec::Stdio(_) => true,
        TransportSpec::Http(http) => http.kind != HttpTransportKind::Sse,
        TransportSpec::BuiltIn => false,
    }
}

/// Records a failed handshake and returns the new server state.
fn failed(
    spec: &ServerSpec,
    log: &mut ConnectLog,
    error: &SessionError,
    stderr: String,
    doubted: Option<Era>,
) -> ServerState {
    let phase = match error {
        SessionError::Transport(_) => FailurePhase::Connect,
        _ => FailurePhase::Initialize,
    };
    let mut failure = hints::failure(spec, phase, error, stderr);
    if doubted == Some(Era::Modern) {
        failure.hint = Some(hints::DEMOTED.into());
    }
    let failed = log.record_failure(failure);
    match error {
        SessionError::NeedsAuth { .. } => {
            ServerState::NeedsAuth(failed.reason().unwrap_or_default())
        }
        _ => failed,
    }
}

/// Replaces the reason of an ended connection by the exit status of the process, if there is one.
fn add_exit_status(error: SessionError, child: Option<&ChildHandle>) -> SessionError {
    match (error, child.and_then(ChildHandle::exit_status)) {
        (SessionError::Reopen { era, source }, _) => {
            SessionError::Reopen { era, source: Box::new(add_exit_status(*source, child)) }
        }
        (SessionError::Ended(_), Some(status)) => {
            SessionError::Ended(format!("the server process ended ({status})"))
        }
        (error, _) => error,
    }
}

fn command(spec: &ServerSpec, stdio: &StdioSpec, mask: &Mask) -> LaunchSpec {
    let exposed =
        |(name, value): (&String, &Secret<String>)| (name.clone(), value.expose().clone());
    LaunchSpec {
        label: spec.name.to_string(),
        program: OsString::from(&stdio.command),
        args: stdio.args.iter().map(OsString::from).collect(),
        cwd: stdio.cwd.clone(),
        env: stdio.env.iter().map(exposed).collect(),
        env_inherit: stdio.env_inherit.clone(),
        mask: mask.clone(),
    }
}
