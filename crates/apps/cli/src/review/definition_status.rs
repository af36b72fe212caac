//! The state of the servers' definitions: changes since their approval, and findings.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use toolgate_host::Host;
use toolgate_host::review::{FindingSeverity, PinStatus};

/// The state of a server's definitions, which the journal does not contain.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerDefinitionStatus {
    /// The name of the server.
    pub server: String,
    /// True if the definitions are known; otherwise the fields below mean nothing.
    pub known: bool,
    /// The number of definitions that differ from the approved ones.
    pub changed: u64,
    /// The number of findings of low, medium and high severity.
    pub findings: [u64; 3],
    /// The codes of these findings, each once.
    pub codes: BTreeSet<String>,
}

/// Returns for every server how many definitions changed since their approval, and the findings in
/// its texts.
pub fn definition_statuses(host: &Host) -> Vec<ServerDefinitionStatus> {
    let servers = host.servers().into_iter().map(|status| {
        let (server, known) = (status.spec.name.to_string(), status.catalog.is_some());
        (status.spec.name, ServerDefinitionStatus { server, known, ..Default::default() })
    });
    let mut statuses: BTreeMap<_, _> = servers.collect();
    for state in host.gate().pin_statuses() {
        let changed = matches!(state.status, PinStatus::Changed { .. });
        if let Some(status) = statuses.get_mut(&state.server).filter(|_| changed) {
            status.changed += 1;
        }
    }
    for finding in host.text_findings() {
        if let Some(status) = statuses.get_mut(&finding.server) {
            let severity = match finding.severity {
                FindingSeverity::Low => 0,
                FindingSeverity::Medium => 1,
                FindingSeverity::High => 2,
            };
            status.findings[severity] += 1;
            status.codes.insert(finding.code.to_string());
        }
    }
    statuses.into_values().collect()
}
