//! The state of all servers: the stable shape of `servers --json`.

use serde::{Deserialize, Serialize};
use toolgate_host::{CapabilityKind, DEFAULT_PROFILE, DiscoveryStatus, Host, ServerStatus};

use super::ConfigFinding;

/// The state of all servers.
#[derive(Debug, Serialize, Deserialize)]
pub struct ServersReport {
    /// The progress of the first discovery of all servers.
    pub discovery: String,
    /// Each server, by name.
    pub servers: Vec<ServerSummaryJson>,
    /// Notes about what the servers offer: name collisions, and tools that are left out or missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Findings about the config files, which are printed to stderr and not with the data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<ConfigFinding>,
}

/// The state of one server.
#[derive(Debug, Serialize, Deserialize)]
pub struct ServerSummaryJson {
    /// Its declared name.
    pub name: String,
    /// Its state.
    pub state: String,
    /// The reason of its state, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Its transport.
    pub transport: String,
    /// The negotiated revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// The file and line that declares it.
    pub origin: String,
    /// The number of its visible tools.
    pub tools: usize,
    /// The number of its visible resources.
    pub resources: usize,
    /// The number of its visible prompts.
    pub prompts: usize,
}

impl ServersReport {
    pub(super) fn of(host: &Host, findings: &[ConfigFinding]) -> Self {
        let overview = host.servers();
        let discovery = match overview.discovery {
            DiscoveryStatus::NotStarted => "not-started",
            DiscoveryStatus::InProgress => "in-progress",
            DiscoveryStatus::Completed => "completed",
        };
        let servers = overview.servers.iter().map(ServerSummaryJson::of).collect();
        let (discovery, notes) = (discovery.to_owned(), exposure_notes(host));
        Self { discovery, servers, notes, findings: findings.to_vec() }
    }
}

/// Returns the notes about what servers offer in the default profile.
pub(super) fn exposure_notes(host: &Host) -> Vec<String> {
    let exposure = host.exposure(DEFAULT_PROFILE);
    exposure.map(|exposure| exposure.findings.clone()).unwrap_or_default()
}

impl ServerSummaryJson {
    fn of(status: &ServerStatus) -> Self {
        let catalog = status.catalog.as_ref();
        let count = |kind| status.visible_definitions(kind).count();
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
