//! How it goes when servers are brought up: the stable shape of `doctor --json`.
//!
//! A server that may not start is not started to find out why: its standing is the finding.

use std::time::Duration;

use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use toolgate_host::{Host, PhaseReport, ServerState, ServerStatus};

use super::Finding;
use super::decided::Decided;
use super::overview::notes;

const LAUNCH: &str = "launch";

/// Every server that was looked at, and what concerns all of them.
#[derive(Debug, Serialize, Deserialize)]
pub struct Checkups {
    /// The servers.
    pub servers: Vec<Checkup>,
    /// What there is to know about what they offered when they were last looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What is wrong with the files.
    pub findings: Vec<Finding>,
    /// How surely processes of servers end with us.
    pub guarantee: String,
}

/// One server.
#[derive(Debug, Serialize, Deserialize)]
pub struct Checkup {
    /// Its declared name.
    pub server: String,
    /// Every step, as far as it got.
    pub phases: Vec<Step>,
    /// What a failing one wrote to its standard error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// Names of variables that its process was not given, where that may be why it failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
}

/// One step.
#[derive(Debug, Serialize, Deserialize)]
pub struct Step {
    /// Which.
    pub name: String,
    /// Whether it went well.
    pub ok: bool,
    /// How long it took.
    pub ms: u64,
    /// What there is to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Checkups {
    /// Whether everything that is declared can be used.
    pub fn is_well(&self) -> bool {
        self.servers.iter().all(Checkup::is_well) && !self.findings.iter().any(Finding::is_error)
    }
}

impl Checkup {
    /// Whether every step went well.
    pub fn is_well(&self) -> bool {
        self.phases.iter().all(|step| step.ok)
    }
}

pub(super) async fn of(host: &Host, servers: &[ServerStatus], findings: &[Finding]) -> Checkups {
    let mut servers = join_all(servers.iter().map(|status| one(host, status))).await;
    // As they are known once everybody was looked at.
    let decided = Decided::of(host);
    for checkup in &mut servers {
        checkup.phases.extend(decided.steps(&checkup.server));
    }
    Checkups {
        servers,
        notes: notes(host),
        findings: findings.to_vec(),
        guarantee: host.guarantee().to_string(),
    }
}

async fn one(host: &Host, status: &ServerStatus) -> Checkup {
    let server = status.spec.name.to_string();
    if let Some(step) = standing(&status.state) {
        return Checkup { server, phases: vec![step], stderr: String::new(), withheld: Vec::new() };
    }
    let report = host.doctor(&server).await.unwrap_or_default();
    let phases: Vec<_> = report.phases.iter().map(Step::of).collect();
    let mut checkup = Checkup { server, phases, stderr: String::new(), withheld: Vec::new() };
    if !checkup.is_well() {
        checkup.stderr = report.stderr;
        // A process that never ran misses no variable.
        let ran = checkup.phases.iter().any(|step| step.ok && step.name == LAUNCH);
        checkup.withheld = if ran { host.withheld(&checkup.server) } else { Vec::new() };
        checkup.withheld.sort();
    }
    checkup
}

/// What there is to say of a server that is not to be started.
fn standing(state: &ServerState) -> Option<Step> {
    let step = |ok, detail: &str, hint: Option<&str>| Step {
        name: "standing".to_owned(),
        ok,
        ms: 0,
        detail: Some(detail.to_owned()),
        hint: hint.map(str::to_owned),
    };
    match state {
        ServerState::Blocked(reason) => Some(step(false, reason, None)),
        ServerState::Disabled => {
            Some(step(true, "disabled", Some("set `enabled = true` in its entry to use it")))
        }
        _ => None,
    }
}

impl Step {
    fn of(phase: &PhaseReport) -> Self {
        let failure = phase.failure.as_ref();
        let detail = failure.map(|failure| failure.cause.clone()).or_else(|| phase.detail.clone());
        Self {
            name: phase.phase.to_string(),
            ok: failure.is_none(),
            ms: millis(phase.took),
            detail,
            hint: failure.and_then(|failure| failure.hint.clone()),
        }
    }
}

fn millis(took: Duration) -> u64 {
    took.as_millis().try_into().unwrap_or(u64::MAX)
}
