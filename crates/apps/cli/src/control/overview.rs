//! The servers and their states: the stable shape of `list --json`.

use serde::{Deserialize, Serialize};
use toolgate_host::{
    CapabilityKind, DEFAULT_PROFILE, DiscoveryStatus, Host, PlanEntry, ServerSpec, ServerState,
    ServerStatus, StartStatus, TransportSpec,
};
use toolgate_model::{ConfigScope, Origin, redact_args, redact_url};

use super::ConfigFinding;

/// All servers and their states.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ServersReport {
    /// The progress of the first discovery of all servers; `None` if only files were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discovery: Option<DiscoveryStatus>,
    /// Each server, by name.
    pub servers: Vec<ServerRow>,
    /// Notes about what the servers offer: name collisions, and tools that are left out or missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Findings about the config files, which are printed to stderr and not with the data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<ConfigFinding>,
}

/// One server: how it is declared, and its state if it was started.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServerRow {
    /// Its declared name.
    pub name: String,
    /// Whether it is enabled.
    pub enabled: bool,
    /// Its state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The reason of its state, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Its transport.
    pub transport: String,
    /// Its command, without credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The arguments of the command, without credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<String>>,
    /// Its URL, without credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The scope of the file that declares it.
    pub scope: ConfigScope,
    /// The file, line and column that declares it.
    pub origin: String,
    /// The declarations it takes precedence over.
    #[serde(default)]
    pub shadows: Vec<String>,
    /// The negotiated revision, and how much it offers.
    #[serde(flatten)]
    pub offer: Option<OfferCounts>,
}

/// How much a connected server offers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OfferCounts {
    /// The negotiated revision.
    pub protocol: String,
    /// The number of its visible tools.
    pub tools: usize,
    /// The number of its visible resources.
    pub resources: usize,
    /// The number of its visible prompts.
    pub prompts: usize,
}

impl ServersReport {
    pub(super) fn of(host: &Host, findings: &[ConfigFinding]) -> Self {
        Self {
            discovery: Some(host.discovery()),
            servers: host.servers().iter().map(ServerRow::from_status).collect(),
            notes: exposure_notes(host),
            findings: findings.to_vec(),
        }
    }
}

/// Returns the notes about what servers offer in the default profile.
pub(super) fn exposure_notes(host: &Host) -> Vec<String> {
    let exposure = host.exposure(DEFAULT_PROFILE);
    exposure.map(|exposure| exposure.findings.clone()).unwrap_or_default()
}

impl ServerRow {
    /// Returns the row of a declared server, without its state.
    pub fn from_entry(entry: &PlanEntry) -> Self {
        Self {
            enabled: entry.start_status != StartStatus::Disabled,
            shadows: entry.shadows.iter().map(ToString::to_string).collect(),
            ..Self::new(&entry.spec, &entry.origin)
        }
    }

    fn from_status(status: &ServerStatus) -> Self {
        let count = |kind| status.visible_definitions(kind).count();
        let offer = status.catalog.as_ref().map(|catalog| OfferCounts {
            protocol: catalog.protocol.to_string(),
            tools: count(CapabilityKind::Tool),
            resources: count(CapabilityKind::Resource),
            prompts: count(CapabilityKind::Prompt),
        });
        Self {
            enabled: status.state != ServerState::Disabled,
            state: Some(status.state.as_str().to_owned()),
            reason: status.state.reason(),
            offer,
            ..Self::new(&status.spec, &status.origin)
        }
    }

    fn new(spec: &ServerSpec, origin: &Origin) -> Self {
        let (command, args, url) = match &spec.transport {
            TransportSpec::Stdio(stdio) => {
                let command = redact_args(std::slice::from_ref(&stdio.command)).concat();
                (Some(command), Some(redact_args(&stdio.args)), None)
            }
            TransportSpec::Http(http) => (None, None, Some(redact_url(&http.url))),
            TransportSpec::BuiltIn => (None, None, None),
        };
        Self {
            name: spec.name.to_string(),
            enabled: spec.enabled,
            state: None,
            reason: None,
            transport: spec.transport.as_str().to_owned(),
            command,
            args,
            url,
            scope: origin.scope,
            origin: origin.to_string(),
            shadows: Vec::new(),
            offer: None,
        }
    }

    /// Returns its command line or URL.
    pub fn target(&self) -> String {
        let words = self.command.iter().chain(self.args.iter().flatten());
        let words = words.map(|word| match word.contains([' ', '\t', '\n', '\'', '"']) {
            false if !word.is_empty() => word.clone(),
            _ => format!("{word:?}"),
        });
        self.url.clone().unwrap_or_else(|| words.collect::<Vec<_>>().join(" "))
    }
}
