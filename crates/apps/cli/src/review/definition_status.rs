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
    pub codes: Vec<String>,
}

/// Returns for every server how many definitions changed since their approval, and the findings in
/// its texts.
pub fn definition_statuses(host: &Host) -> Vec<ServerDefinitionStatus> {
    let mut statuses: BTreeMap<_, _> = host
        .servers()
        .servers
        .iter()
        .map(|status| {
            let (server, known) = (status.spec.name.to_string(), status.catalog.is_some());
            let status_of = ServerDefinitionStatus { server, known, ..Default::default() };
            (status.spec.name.clone(), (status_of, BTreeSet::new()))
        })
        .collect();
    for state in host.pin_states() {
        let changed = matches!(state.status, PinStatus::Changed { .. });
        if let Some((status, _)) = statuses.get_mut(&state.server).filter(|_| changed) {
            status.changed += 1;
        }
    }
    for finding in host.text_findings() {
        if let Some((status, codes)) = statuses.get_mut(&finding.server) {
            let severity = match finding.severity {
                FindingSeverity::Low => 0,
                FindingSeverity::Medium => 1,
                FindingSeverity::High => 2,
            };
            status.findings[severity] += 1;
            codes.insert(finding.code.as_str());
        }
    }
    let with_codes = |(status, codes): (ServerDefinitionStatus, BTreeSet<&str>)| {
        let codes = codes.into_iter().map(str::to_owned).collect();
        ServerDefinitionStatus { codes, ..status }
    };
    statuses.into_values().map(with_codes).collect()
}
