//! Checkup of servers, step by step: the stable shape of `doctor --json`.
//!
//! A blocked or disabled server is not started; its state is the result.

use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use toolgate_host::{ConnectPhaseReport, Host, ServerState, ServerStatus};

use super::ConfigFinding;
use super::gate_checks::ServerSafetyChecks;
use super::overview::exposure_notes;

const LAUNCH: &str = "launch";

/// The checkups of servers, and what concerns all of them.
#[derive(Debug, Serialize, Deserialize)]
pub struct DoctorReport {
    /// The checkup of each server.
    pub servers: Vec<ServerCheckup>,
    /// Notes about what the servers offer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Findings about the config files.
    pub findings: Vec<ConfigFinding>,
    /// How reliably server processes end together with Toolgate.
    pub guarantee: String,
}

/// The checkup of one server.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ServerCheckup {
    /// Its declared name.
    pub server: String,
    /// The steps, up to the first that failed.
    pub phases: Vec<CheckupStep>,
    /// What the server wrote to its standard error, if a step failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// Names of environment variables withheld from its process, if that may be the cause.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
}

/// One step of a checkup.
#[derive(Debug, Serialize, Deserialize)]
pub struct CheckupStep {
    /// The name of the step.
    pub name: String,
    /// Whether it succeeded.
    pub ok: bool,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// The result, or why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What the user can do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl DoctorReport {
    /// Returns true if every server is healthy and the config files have no errors.
    pub fn is_healthy(&self) -> bool {
        self.servers.iter().all(ServerCheckup::is_healthy)
            && !self.findings.iter().any(ConfigFinding::is_error)
    }
}

impl ServerCheckup {
    /// Returns true if every step succeeded.
    pub fn is_healthy(&self) -> bool {
        self.phases.iter().all(|step| step.ok)
    }
}

pub(super) async fn check_servers(
    host: &Host,
    servers: &[ServerStatus],
    findings: &[ConfigFinding],
) -> DoctorReport {
    let mut servers = join_all(servers.iter().map(|status| check_server(host, status))).await;
    // After all checkups, because they update what the gate knows.
    let gate_checks = ServerSafetyChecks::of(host);
    for checkup in &mut servers {
        checkup.phases.extend(gate_checks.steps(&checkup.server));
    }
    DoctorReport {
        servers,
        notes: exposure_notes(host),
        findings: findings.to_vec(),
        guarantee: host.guarantee().to_string(),
    }
}

async fn check_server(host: &Host, status: &ServerStatus) -> ServerCheckup {
    let server = status.spec.name.to_string();
    if let Some(step) = standing_step(&status.state) {
        return ServerCheckup { server, phases: vec![step], ..ServerCheckup::default() };
    }
    let report = host.diagnose(&server).await.unwrap_or_default();
    let phases = report.phases.iter().map(CheckupStep::of).collect();
    let mut checkup = ServerCheckup { server, phases, ..ServerCheckup::default() };
    if !checkup.is_healthy() {
        checkup.stderr = report.stderr;
        // Withheld variables matter only if the process was launched.
        let ran = checkup.phases.iter().any(|step| step.ok && step.name == LAUNCH);
        checkup.withheld = if ran { host.withheld_variables(&checkup.server) } else { Vec::new() };
        checkup.withheld.sort();
    }
    checkup
}

/// Returns the step that stands for a server that must not be started.
fn standing_step(state: &ServerState) -> Option<CheckupStep> {
    let step = |ok, detail: &str, hint: Option<&str>| {
        CheckupStep::new("standing", ok, detail.to_owned(), hint.map(str::to_owned))
    };
    match state {
        ServerState::Blocked(block) => Some(step(false, &block.reason, block.hint.as_deref())),
        ServerState::Disabled => {
            Some(step(true, "disabled", Some("set `enabled = true` in its entry to enable it")))
        }
        _ => None,
    }
}

impl CheckupStep {
    /// Returns a step that takes no time.
    pub(super) fn new(name: &str, ok: bool, detail: String, hint: Option<String>) -> Self {
        Self { name: name.to_owned(), ok, ms: 0, detail: Some(detail), hint }
    }

    fn of(phase: &ConnectPhaseReport) -> Self {
        let failure = phase.failure.as_ref();
        let detail = failure.map(|failure| failure.cause.clone()).or_else(|| phase.detail.clone());
        Self {
            name: phase.phase.to_string(),
            ok: failure.is_none(),
            ms: phase.took.as_millis().try_into().unwrap_or(u64::MAX),
            detail,
            hint: failure.and_then(|failure| failure.hint.clone()),
        }
    }
}
