//! How all servers stand: the stable shape of `servers --json`.

use serde::{Deserialize, Serialize};
use toolgate_host::{CapabilityKind, DEFAULT_PROFILE, Discovery, Host, ServerStatus};

use super::Finding;

/// All servers.
#[derive(Debug, Serialize, Deserialize)]
pub struct Overview {
    /// How far the first look at all of them has come.
    pub discovery: String,
    /// Each of them, by name.
    pub servers: Vec<Server>,
    /// What there is to know about what they offer: names that met, tools that are left out or
    /// listed and not there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What is wrong with the files; told beside the data, not in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// One server.
#[derive(Debug, Serialize, Deserialize)]
pub struct Server {
    /// Its declared name.
    pub name: String,
    /// How it stands.
    pub state: String,
    /// Why, where there is something to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How it is reached.
    pub transport: String,
    /// The revision both sides agreed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Where it is declared.
    pub origin: String,
    /// How many tools of it are visible.
    pub tools: usize,
    /// How many resources.
    pub resources: usize,
    /// How many prompts.
    pub prompts: usize,
}

impl Overview {
    pub(super) fn of(host: &Host, findings: &[Finding]) -> Self {
        let overview = host.servers();
        let discovery = match overview.discovery {
            Discovery::NotStarted => "not-started",
            Discovery::InProgress => "in-progress",
            Discovery::Completed => "completed",
        };
        let servers = overview.servers.iter().map(Server::of).collect();
        let (discovery, notes) = (discovery.to_owned(), notes(host));
        Self { discovery, servers, notes, findings: findings.to_vec() }
    }
}

/// What there is to know about what servers offer to whoever chose no profile.
pub(super) fn notes(host: &Host) -> Vec<String> {
    let exposure = host.exposure(DEFAULT_PROFILE);
    exposure.map(|exposure| exposure.findings.clone()).unwrap_or_default()
}

impl Server {
    fn of(status: &ServerStatus) -> Self {
        let catalog = status.catalog.as_ref();
        let count = |kind| status.offers(kind).count();
        Self {
            name: status.spec.name.to_string(),
            state: status.state.as_str().to_owned(),
            reason: status.state.reason(),
            transport: status.spec.transport.as_str().to_owned(),
            protocol: catalog.map(|catalog| catalog.protocol.to_string()),
            origin: status.origin.to_string(),
            tools: count(CapabilityKind::Tool),
            resources: count(CapabilityKind::Resource),
            prompts: count(CapabilityKind::Prompt),
        }
    }
}
