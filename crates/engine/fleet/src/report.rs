//! What happens while a server is brought up, phase by phase, each with its time.

use std::time::{Duration, Instant};

use toolgate_model::{Failure, Mask, Phase, ServerName, ServerState};

/// Logs a line in the area that a phase belongs to.
macro_rules! debug_phase {
    ($phase:expr, $($line:tt)*) => {
        match $phase {
            Phase::Resolve => tracing::debug!(target: "toolgate::config", $($line)*),
            Phase::Launch => tracing::debug!(target: "toolgate::launch", $($line)*),
            Phase::Connect => tracing::debug!(target: "toolgate::transport", $($line)*),
            Phase::Initialize | Phase::List | Phase::Call => {
                tracing::debug!(target: "toolgate::session", $($line)*);
            }
        }
    };
}

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

/// Notes each phase as it ends, and logs its beginning and its end. Whatever it is told is masked
/// before anybody sees it.
pub(crate) struct Log {
    server: ServerName,
    pub(crate) report: Report,
    /// What must not be shown of the server, once that is known.
    pub(crate) mask: Mask,
    began: Option<Instant>,
}

impl Log {
    pub(crate) fn new(server: &ServerName) -> Self {
        let (report, mask) = (Report::default(), Mask::default());
        Self { server: server.clone(), report, mask, began: None }
    }

    /// A server that may not start is not started, not even to be looked at.
    pub(crate) fn not_allowed(&mut self, standing: &ServerState) {
        let reason = standing.reason().map(|reason| format!(": {reason}")).unwrap_or_default();
        let cause = format!("it is {}{reason}", standing.as_str());
        let stderr = String::new();
        self.failed(Failure { phase: Phase::Resolve, cause, stderr, hint: None });
    }

    pub(crate) fn begin(&mut self, phase: Phase) {
        self.began = Some(Instant::now());
        debug_phase!(phase, server = %self.server, "{phase}: begins");
    }

    /// Logs a step inside of a phase.
    pub(crate) fn step(&self, phase: Phase, step: &str) {
        let took = self.began.map(|began| began.elapsed()).unwrap_or_default();
        let step = self.mask.apply(step);
        debug_phase!(phase, server = %self.server, ?took, "{phase}: {step}");
    }

    pub(crate) fn done(&mut self, phase: Phase, detail: Option<String>) {
        self.note(phase, detail, None);
    }

    pub(crate) fn failed(&mut self, mut failure: Failure) -> ServerState {
        let Failure { cause, stderr, hint, .. } = &mut failure;
        [cause, stderr].into_iter().chain(hint).for_each(|text| self.mask.hide_in(text));
        self.report.stderr.clone_from(&failure.stderr);
        self.note(failure.phase, None, Some(failure.clone()));
        ServerState::Failed(failure)
    }

    fn note(&mut self, phase: Phase, mut detail: Option<String>, failure: Option<Failure>) {
        detail.iter_mut().for_each(|text| self.mask.hide_in(text));
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
        self.report.phases.push(PhaseReport { phase, took, detail, failure });
    }
}
