//! Reports the phases of connecting to a server, each with its duration.

use std::time::{Duration, Instant};

use toolgate_model::{ErrorCode, FailurePhase, Mask, ServerFailure, ServerName, ServerState};

/// Logs a line under the target of a phase.
macro_rules! debug_phase {
    ($phase:expr, $($line:tt)*) => {
        match $phase {
            FailurePhase::Resolve => tracing::debug!(target: "toolgate::config", $($line)*),
            FailurePhase::Launch => tracing::debug!(target: "toolgate::launch", $($line)*),
            FailurePhase::Connect => tracing::debug!(target: "toolgate::transport", $($line)*),
            FailurePhase::Initialize | FailurePhase::List | FailurePhase::Call => {
                tracing::debug!(target: "toolgate::session", $($line)*);
            }
        }
    };
}

/// One phase of connecting to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectPhaseReport {
    /// The phase.
    pub phase: FailurePhase,
    /// How long it took.
    pub took: Duration,
    /// Details, for example the process id.
    pub detail: Option<String>,
    /// The failure, if the phase failed.
    pub failure: Option<ServerFailure>,
}

/// The report of one attempt to connect to a server.
#[derive(Debug, Clone, Default)]
pub struct ConnectReport {
    /// The phases, in order; the last one may have failed.
    pub phases: Vec<ConnectPhaseReport>,
    /// The end of the server's standard error.
    pub stderr: String,
}

/// Records each phase when it ends, and logs its beginning and its end. Masks all texts first.
pub(crate) struct ConnectLog {
    server: ServerName,
    pub(crate) report: ConnectReport,
    /// The secrets to remove from texts, once they are known.
    pub(crate) mask: Mask,
    began: Option<Instant>,
}

impl ConnectLog {
    pub(crate) fn new(server: &ServerName) -> Self {
        let (report, mask) = (ConnectReport::default(), Mask::default());
        Self { server: server.clone(), report, mask, began: None }
    }

    /// Records that the server must not be started.
    pub(crate) fn record_not_allowed(&mut self, state: &ServerState) {
        let reason = state.reason().map(|reason| format!(": {reason}")).unwrap_or_default();
        let cause = format!("the server is {}{reason}", state.as_str());
        let code = match state {
            ServerState::Blocked(block) => block.code,
            _ => ErrorCode::ServerDisabled,
        };
        let (phase, stderr) = (FailurePhase::Resolve, String::new());
        self.record_failure(ServerFailure { phase, code, cause, stderr, hint: None });
    }

    pub(crate) fn begin(&mut self, phase: FailurePhase) {
        self.began = Some(Instant::now());
        debug_phase!(phase, server = %self.server, "{phase}: begins");
    }

    /// Logs a step within a phase.
    pub(crate) fn step(&self, phase: FailurePhase, step: &str) {
        let took = self.began.map(|began| began.elapsed()).unwrap_or_default();
        let step = self.mask.apply(step);
        debug_phase!(phase, server = %self.server, ?took, "{phase}: {step}");
    }

    pub(crate) fn done(&mut self, phase: FailurePhase, detail: Option<String>) {
        self.note(phase, detail, None);
    }

    pub(crate) fn record_failure(&mut self, mut failure: ServerFailure) -> ServerState {
        let ServerFailure { cause, stderr, hint, .. } = &mut failure;
        [cause, stderr].into_iter().chain(hint).for_each(|text| self.mask.apply_in_place(text));
        self.report.stderr.clone_from(&failure.stderr);
        self.note(failure.phase, None, Some(failure.clone()));
        ServerState::Failed(failure)
    }

    fn note(
        &mut self,
        phase: FailurePhase,
        mut detail: Option<String>,
        failure: Option<ServerFailure>,
    ) {
        detail.iter_mut().for_each(|text| self.mask.apply_in_place(text));
        let took = self.began.take().map(|began| began.elapsed()).unwrap_or_default();
        match (&failure, &detail) {
            (Some(failure), _) => {
                debug_phase!(phase, server = %self.server, ?took, "{phase}: failed: {}", failure.cause);
            }
            (None, Some(detail)) => {
                debug_phase!(phase, server = %self.server, ?took, "{phase}: {detail}");
            }
            (None, None) => debug_phase!(phase, server = %self.server, ?took, "{phase}: done"),
        }
        self.report.phases.push(ConnectPhaseReport { phase, took, detail, failure });
    }
}
