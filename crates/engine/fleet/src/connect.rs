//! Bringing one server up, phase by phase, each with its time.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::{Duration, Instant};

use toolgate_launch::{ChildHandle, Command, Launcher, SHUTDOWN_GRACE};
use toolgate_model::{
    Catalog, Failure, Phase, Secret, ServerSpec, ServerState, StdioSpec, TransportSpec,
};
use toolgate_session::{Opening, Owner, Session, SessionError};
use toolgate_transport::http::Endpoint;

use crate::member::{Member, Tenant};
use crate::{builtin, hints, refresh};

/// One phase of bringing a server up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseReport {
    /// Which.
    pub phase: Phase,
    /// How long it took.
    pub took: Duration,
    /// What there is to say about it.
    pub detail: Option<String>,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
}

/// Everything that happened while a server was brought up.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The phases, in order; the last one may have failed.
    pub phases: Vec<PhaseReport>,
    /// What the server wrote to its standard error.
    pub stderr: String,
}

/// A server that is up.
pub(crate) struct Live {
    pub(crate) session: Session,
    pub(crate) child: Option<ChildHandle>,
}

impl Live {
    /// The end of what the process wrote to its standard error.
    pub(crate) fn stderr(&self) -> String {
        self.child.as_ref().map(|child| child.stderr().tail()).unwrap_or_default()
    }

    /// Ends it in good manners.
    pub(crate) async fn close(&self) {
        self.session.close().await;
        if let Some(child) = &self.child {
            child.shutdown(SHUTDOWN_GRACE).await;
        }
    }
}

/// What connecting takes.
pub(crate) struct Attempt<'a> {
    pub(crate) member: &'a Member,
    pub(crate) tenant: &'a Tenant,
    pub(crate) launcher: &'a Launcher,
    pub(crate) owner: Arc<dyn Owner>,
}

/// Notes each phase as it ends.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) report: Report,
    began: Option<Instant>,
}

impl Log {
    /// A server that may not start is not started, not even to be looked at.
    pub(crate) fn not_allowed(&mut self, standing: &ServerState) {
        let reason = standing.reason().map(|reason| format!(": {reason}")).unwrap_or_default();
        let cause = format!("it is {}{reason}", standing.as_str());
        let stderr = String::new();
        self.failed(Failure { phase: Phase::Resolve, cause, stderr, hint: None });
    }

    fn begin(&mut self) {
        self.began = Some(Instant::now());
    }

    fn done(&mut self, phase: Phase, detail: Option<String>) {
        self.note(phase, detail, None);
    }

    fn failed(&mut self, failure: Failure) -> ServerState {
        self.report.stderr.clone_from(&failure.stderr);
        self.note(failure.phase, None, Some(failure.clone()));
        ServerState::Failed(failure)
    }

    fn note(&mut self, phase: Phase, detail: Option<String>, failure: Option<Failure>) {
        let took = self.began.take().map(|began| began.elapsed()).unwrap_or_default();
        self.report.phases.push(PhaseReport { phase, took, detail, failure });
    }
}

impl Attempt<'_> {
    /// Brings the server up and lists what it offers, or says how it now stands.
    pub(crate) async fn run(&self, log: &mut Log) -> Result<(Live, Catalog), ServerState> {
        log.begin();
        let spec = match (self.member.resolve)(&self.member.spec) {
            Ok(spec) => spec,
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
        log.begin();
        match refresh::everything(&live.session).await {
            Ok(catalog) => {
                log.done(Phase::List, Some(refresh::summary(&catalog)));
                log.report.stderr = live.stderr();
                Ok((live, catalog))
            }
            Err(error) => {
                Err(log.failed(hints::failure(&spec, Phase::List, &error, live.stderr())))
            }
        }
    }

    async fn open(&self, spec: &ServerSpec, log: &mut Log) -> Result<Live, ServerState> {
        log.begin();
        match &spec.transport {
            TransportSpec::Stdio(stdio) => self.open_stdio(spec, stdio, log).await,
            TransportSpec::Http(http) => {
                let headers = http.headers.iter().map(|(name, value)| (&**name, value.expose()));
                let headers = headers.map(|(name, value)| (name, value.as_str()));
                let endpoint = Endpoint::new(&http.url, headers).map_err(|error| {
                    log.failed(hints::failure(spec, Phase::Connect, &error.into(), String::new()))
                })?;
                let opened = Session::on_http(endpoint, self.opening(spec)).await;
                self.opened(spec, opened, None, log).await
            }
            TransportSpec::BuiltIn => {
                let Some(server) = &self.member.built_in else {
                    return Err(ServerState::Blocked("no server of this name is built in".into()));
                };
                let (input, output) = tokio::io::split(builtin::connect(&**server));
                let opened = Session::on_lines(input, output, self.opening(spec)).await;
                self.opened(spec, opened, None, log).await
            }
        }
    }

    async fn open_stdio(
        &self,
        spec: &ServerSpec,
        stdio: &StdioSpec,
        log: &mut Log,
    ) -> Result<Live, ServerState> {
        let started = self.launcher.start(&command(spec, stdio)).await.map_err(|error| {
            let cause = format!("failed to {error}");
            let stderr = String::new();
            log.failed(Failure { phase: Phase::Launch, cause, stderr, hint: None })
        })?;
        let (io, child) = started.split();
        log.done(Phase::Launch, Some(format!("process {}", child.pid())));
        log.begin();
        let opened = Session::on_lines(io.stdout, io.stdin, self.opening(spec)).await;
        self.opened(spec, opened, Some(child), log).await
    }

    fn opening(&self, spec: &ServerSpec) -> Opening {
        Opening {
            server: spec.name.clone(),
            timeouts: spec.timeouts,
            capabilities: self.tenant.capabilities.clone(),
            ambient: self.tenant.ambient.clone(),
            owner: self.owner.clone(),
        }
    }

    /// The end of the handshake, well or badly.
    async fn opened(
        &self,
        spec: &ServerSpec,
        opened: Result<Session, SessionError>,
        child: Option<ChildHandle>,
        log: &mut Log,
    ) -> Result<Live, ServerState> {
        match opened {
            Ok(session) => {
                log.done(Phase::Initialize, Some(session.welcome().protocol.to_string()));
                Ok(Live { session, child })
            }
            Err(error) => {
                let stderr = last_words(child.as_ref()).await;
                let phase = match &error {
                    SessionError::Transport(_) => Phase::Connect,
                    _ => Phase::Initialize,
                };
                let error = with_exit(error, child.as_ref());
                let failed = log.failed(hints::failure(spec, phase, &error, stderr));
                Err(match error {
                    SessionError::NeedsAuth { .. } => {
                        ServerState::NeedsAuth(failed.reason().unwrap_or_default())
                    }
                    _ => failed,
                })
            }
        }
    }
}

/// What a process said before it ended; a dying one gets a moment to say it.
async fn last_words(child: Option<&ChildHandle>) -> String {
    let Some(child) = child else { return String::new() };
    let _ = tokio::time::timeout(Duration::from_millis(300), child.wait()).await;
    child.stderr().tail()
}

/// An end that has an exit status says so.
pub(crate) fn with_exit(error: SessionError, child: Option<&ChildHandle>) -> SessionError {
    match (error, child.and_then(ChildHandle::exited)) {
        (SessionError::Ended(_), Some(status)) => {
            SessionError::Ended(format!("its process ended ({status})"))
        }
        (error, _) => error,
    }
}

fn command(spec: &ServerSpec, stdio: &StdioSpec) -> Command {
    let exposed =
        |(name, value): (&String, &Secret<String>)| (name.clone(), value.expose().clone());
    Command {
        label: spec.name.to_string(),
        program: OsString::from(&stdio.command),
        args: stdio.args.iter().map(OsString::from).collect(),
        cwd: stdio.cwd.clone(),
        env: stdio.env.iter().map(exposed).collect(),
        env_inherit: stdio.env_inherit.clone(),
    }
}
