//! Bringing one server up: resolve, reach, shake hands, list.
//!
//! Which era a server speaks is asked once and then remembered ([`Memory`]). A server that does not
//! survive the question, or a greeting that came before its answer, is started anew, once, and not
//! asked again; one that was found modern is never taken for a legacy one without somebody being
//! told.

use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use toolgate_launch::{ChildHandle, Command, Launcher, SHUTDOWN_GRACE};
use toolgate_model::{
    Catalog, Failure, HttpKind, Mask, Phase, Secret, ServerName, ServerSpec, ServerState,
    StdioSpec, TransportSpec, shown_args, shown_url,
};
use toolgate_session::{Opening, Owner, Session, SessionError, declared};
use toolgate_wire::{Era, Frame};

use crate::member::{Member, Tenant};
use crate::memory::Memory;
use crate::report::Log;
use crate::{builtin, hints, http, masked, refresh};

/// A server that is up.
pub(crate) struct Live {
    pub(crate) server: ServerName,
    pub(crate) session: Session,
    pub(crate) child: Option<ChildHandle>,
    /// What must not be shown of what it says.
    pub(crate) mask: Mask,
}

impl Live {
    /// The end of what the process wrote to its standard error, masked.
    pub(crate) fn stderr(&self) -> String {
        let mut stderr = self.child.as_ref().map(|child| child.stderr().tail()).unwrap_or_default();
        self.mask.hide_in(&mut stderr);
        stderr
    }

    /// An error of its session, as it may be shown.
    pub(crate) fn masked(&self, error: SessionError) -> SessionError {
        masked::error(error, &self.mask)
    }

    /// An answer of its server: an error as it may be shown, a result as it came.
    pub(crate) fn masked_answer(&self, frame: Frame) -> Frame {
        masked::answer(frame, &self.mask)
    }

    /// Why it ended, as far as its process tells, and the last words of that. A dying one gets a
    /// moment.
    pub(crate) async fn obituary(&self, error: SessionError) -> (SessionError, String) {
        if let Some(child) = &self.child {
            let _ = tokio::time::timeout(Duration::from_millis(200), child.wait()).await;
        }
        (self.masked(with_exit(error, self.child.as_ref())), self.stderr())
    }

    /// Ends it in good manners.
    pub(crate) async fn close(&self) {
        let began = Instant::now();
        self.session.close().await;
        let mut status = None;
        if let Some(child) = &self.child {
            child.shutdown(SHUTDOWN_GRACE).await;
            status = child.exited();
        }
        let (server, took) = (&self.server, began.elapsed());
        match status {
            Some(status) => {
                tracing::debug!(target: "toolgate::session", %server, ?took, "close: its process ended ({status})");
            }
            None => tracing::debug!(target: "toolgate::session", %server, ?took, "close: done"),
        }
    }
}

/// What carries the messages of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carrier {
    Stdio,
    StreamableHttp,
    HttpSse,
    InProcess,
}

impl fmt::Display for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stdio => "over stdio",
            Self::StreamableHttp => "over Streamable HTTP",
            Self::HttpSse => "over HTTP+SSE",
            Self::InProcess => "in process",
        })
    }
}

/// What connecting takes.
pub(crate) struct Attempt<'a> {
    pub(crate) member: &'a Member,
    pub(crate) tenant: &'a Tenant,
    pub(crate) launcher: &'a Launcher,
    pub(crate) memory: &'a Memory,
    pub(crate) owner: Arc<dyn Owner>,
}

/// Why a server was not reached.
pub(crate) enum Unreached {
    /// There was nothing to shake hands with; it has been noted.
    Absent(ServerState),
    /// The handshake failed.
    Session {
        error: SessionError,
        /// The last words of its process.
        stderr: String,
    },
}

impl From<SessionError> for Unreached {
    fn from(error: SessionError) -> Self {
        Self::Session { error, stderr: String::new() }
    }
}

impl Attempt<'_> {
    /// Brings the server up and lists what it offers, or says how it now stands.
    pub(crate) async fn run(&self, log: &mut Log) -> Result<(Live, Catalog), ServerState> {
        let (spec, live) = self.connect(log).await?;
        log.begin(Phase::List);
        match refresh::everything(&live).await {
            Ok(catalog) => {
                log.done(Phase::List, Some(refresh::summary(&catalog)));
                log.report.stderr = live.stderr();
                Ok((live, catalog))
            }
            Err(error) => {
                let (error, stderr) = live.obituary(error).await;
                Err(log.failed(hints::failure(&spec, Phase::List, &error, stderr)))
            }
        }
    }

    /// Brings the server up, with its variables expanded.
    pub(crate) async fn connect(&self, log: &mut Log) -> Result<(ServerSpec, Live), ServerState> {
        log.begin(Phase::Resolve);
        let spec = match (self.member.resolve)(&self.member.spec) {
            Ok(resolved) => {
                log.mask = resolved.mask;
                resolved.spec
            }
            Err(reason) => {
                let hint = Some("set the variable, or give it a default".into());
                let failure =
                    Failure { phase: Phase::Resolve, cause: reason, stderr: String::new(), hint };
                log.failed(failure.clone());
                return Err(ServerState::Blocked(failure.cause));
            }
        };
        log.done(Phase::Resolve, None);
        let live = self.open(&spec, log).await?;
        Ok((spec, live))
    }

    /// Opens a connection in the era the server is known, or turns out, to speak.
    async fn open(&self, spec: &ServerSpec, log: &mut Log) -> Result<Live, ServerState> {
        let known = self.known_era().await;
        let mut reached = self.reach(spec, known, log).await;
        if let Err(Unreached::Session { error: SessionError::Reopen { era, source }, .. }) =
            &reached
            && known.is_none()
        {
            let era = *era;
            log.done(Phase::Initialize, Some(started_again(era, source)));
            reached = self.reach(spec, Some(era), log).await;
        }
        match reached {
            Ok((live, carrier)) => {
                let protocol = live.session.welcome().protocol;
                log.step(Phase::Connect, &format!("connected {carrier}"));
                log.done(Phase::Initialize, Some(format!("{protocol} {carrier}")));
                if known.is_none() && asked_for_era(spec) {
                    self.memory.save_era(&self.member.spec, Some(protocol.era())).await;
                }
                Ok(live)
            }
            Err(Unreached::Absent(state)) => Err(state),
            Err(Unreached::Session { error, stderr }) => {
                let doubted =
                    known.filter(|_| asked_for_era(spec) && hints::belies_era(spec, &error));
                if doubted.is_some() {
                    self.memory.save_era(&self.member.spec, None).await;
                }
                Err(failed(spec, log, &error, stderr, doubted))
            }
        }
    }

    async fn known_era(&self) -> Option<Era> {
        match asked_for_era(&self.member.spec) {
            true => self.memory.era(&self.member.spec).await,
            // Built-in servers say it, and the old transport is that of one era.
            false => Some(self.member.built_in.as_ref().map_or(Era::Legacy, |it| it.era())),
        }
    }

    async fn reach(
        &self,
        spec: &ServerSpec,
        era: Option<Era>,
        log: &mut Log,
    ) -> Result<(Live, Carrier), Unreached> {
        let opening = || self.opening(spec, era);
        match &spec.transport {
            TransportSpec::Stdio(stdio) => {
                log.begin(Phase::Launch);
                log.step(Phase::Launch, &self.shown_command());
                let live = self.reach_process(spec, stdio, era, log).await?;
                Ok((live, Carrier::Stdio))
            }
            TransportSpec::Http(http) => {
                log.begin(Phase::Connect);
                log.step(Phase::Connect, &self.shown_address());
                let (session, carrier) = http::open(http, opening, log).await?;
                Ok((self.live(session, None, log), carrier))
            }
            TransportSpec::BuiltIn => {
                let Some(server) = &self.member.built_in else {
                    let reason = "no server of this name is built in".into();
                    return Err(Unreached::Absent(ServerState::Blocked(reason)));
                };
                log.begin(Phase::Connect);
                let (input, output) = tokio::io::split(builtin::connect(&**server));
                let session = Session::on_lines(input, output, opening()).await?;
                Ok((self.live(session, None, log), Carrier::InProcess))
            }
        }
    }

    async fn reach_process(
        &self,
        spec: &ServerSpec,
        stdio: &StdioSpec,
        era: Option<Era>,
        log: &mut Log,
    ) -> Result<Live, Unreached> {
        let started =
            self.launcher.start(&command(spec, stdio, &log.mask)).await.map_err(|error| {
                let cause = format!("failed to {error}");
                let stderr = String::new();
                let failure = Failure { phase: Phase::Launch, cause, stderr, hint: None };
                Unreached::Absent(log.failed(failure))
            })?;
        let (io, child) = started.split();
        log.done(Phase::Launch, Some(format!("process {}", child.pid())));
        log.begin(Phase::Initialize);
        log.step(Phase::Connect, &Carrier::Stdio.to_string());
        match Session::on_lines(io.stdout, io.stdin, self.opening(spec, era)).await {
            Ok(session) => Ok(self.live(session, Some(child), log)),
            Err(error) => {
                let stderr = last_words(&child).await;
                Err(Unreached::Session { error: with_exit(error, Some(&child)), stderr })
            }
        }
    }

    fn live(&self, session: Session, child: Option<ChildHandle>, log: &Log) -> Live {
        Live { server: self.member.spec.name.clone(), session, child, mask: log.mask.clone() }
    }

    /// What is started, as it is declared: variables are not expanded.
    fn shown_command(&self) -> String {
        let TransportSpec::Stdio(stdio) = &self.member.spec.transport else { return String::new() };
        let words = [std::slice::from_ref(&stdio.command), &stdio.args[..]].concat();
        shown_args(&words).join(" ")
    }

    /// Where it is reached, as it is declared.
    fn shown_address(&self) -> String {
        match &self.member.spec.transport {
            TransportSpec::Http(http) => shown_url(&http.url),
            _ => String::new(),
        }
    }

    fn opening(&self, spec: &ServerSpec, era: Option<Era>) -> Opening {
        Opening {
            server: spec.name.clone(),
            timeouts: spec.timeouts,
            capabilities: declared(self.tenant.capabilities.clone(), spec.sampling.is_some()),
            ambient: self.tenant.ambient.clone(),
            owner: self.owner.clone(),
            era,
        }
    }
}

/// What is said of a server that is started twice. It need not have ended because it was asked.
fn started_again(era: Era, ended: &SessionError) -> String {
    let how = match era {
        Era::Modern => "it speaks 2026-07-28 but was greeted as an older server",
        Era::Legacy => "asked for its era",
    };
    format!("{how}: failed to {ended}; started again without asking")
}

/// Whether the era of such a server is found out rather than given.
fn asked_for_era(spec: &ServerSpec) -> bool {
    match &spec.transport {
        TransportSpec::Stdio(_) => true,
        TransportSpec::Http(http) => http.kind != HttpKind::Sse,
        TransportSpec::BuiltIn => false,
    }
}

/// The end of a handshake that failed.
fn failed(
    spec: &ServerSpec,
    log: &mut Log,
    error: &SessionError,
    stderr: String,
    doubted: Option<Era>,
) -> ServerState {
    let phase = match error {
        SessionError::Transport(_) => Phase::Connect,
        _ => Phase::Initialize,
    };
    let mut failure = hints::failure(spec, phase, error, stderr);
    if doubted == Some(Era::Modern) {
        failure.hint = Some(hints::DEMOTED.into());
    }
    let failed = log.failed(failure);
    match error {
        SessionError::NeedsAuth { .. } => {
            ServerState::NeedsAuth(failed.reason().unwrap_or_default())
        }
        _ => failed,
    }
}

/// What a process said before it ended; a dying one gets a moment to say it.
async fn last_words(child: &ChildHandle) -> String {
    let _ = tokio::time::timeout(Duration::from_millis(300), child.wait()).await;
    child.stderr().tail()
}

/// An end that has an exit status says so.
fn with_exit(error: SessionError, child: Option<&ChildHandle>) -> SessionError {
    match (error, child.and_then(ChildHandle::exited)) {
        (SessionError::Reopen { era, source }, _) => {
            SessionError::Reopen { era, source: Box::new(with_exit(*source, child)) }
        }
        (SessionError::Ended(_), Some(status)) => {
            SessionError::Ended(format!("its process ended ({status})"))
        }
        (error, _) => error,
    }
}

fn command(spec: &ServerSpec, stdio: &StdioSpec, mask: &Mask) -> Command {
    let exposed =
        |(name, value): (&String, &Secret<String>)| (name.clone(), value.expose().clone());
    Command {
        label: spec.name.to_string(),
        program: OsString::from(&stdio.command),
        args: stdio.args.iter().map(OsString::from).collect(),
        cwd: stdio.cwd.clone(),
        env: stdio.env.iter().map(exposed).collect(),
        env_inherit: stdio.env_inherit.clone(),
        mask: mask.clone(),
    }
}
