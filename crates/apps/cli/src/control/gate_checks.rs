//! Checkup steps about what can prevent calls to a running server: pins, findings and policy.
//!
//! Findings are warnings, and a rule that denies is intended, so neither counts as a failure. A
//! definition that differs from its pin is a failure.

use std::collections::BTreeMap;

use toolgate_host::review::{PinStatus, TextFinding};
use toolgate_host::{DEFAULT_PROFILE, DecisionForecast, Host, PinStatusEntry};

use super::checkup::CheckupStep;

/// The most names that are listed; the rest are counted.
const MAX_NAMES: usize = 5;

/// The pins, findings and decision forecasts of all servers.
pub(super) struct ServerSafetyChecks {
    pins: Vec<PinStatusEntry>,
    findings: Vec<TextFinding>,
    forecasts: Vec<DecisionForecast>,
}

impl ServerSafetyChecks {
    pub(super) fn of(host: &Host) -> Self {
        Self {
            pins: host.gate().pin_statuses(),
            findings: host.text_findings(),
            // The default profile always exists.
            forecasts: host.preview_decisions(DEFAULT_PROFILE).unwrap_or_default(),
        }
    }

    /// Returns the steps of one server. A step without data is left out.
    pub(super) fn steps(&self, server: &str) -> Vec<CheckupStep> {
        let steps = [self.pins(server), self.findings(server), self.decisions(server)];
        steps.into_iter().flatten().collect()
    }

    fn pins(&self, server: &str) -> Option<CheckupStep> {
        let own: Vec<_> = self.pins.iter().filter(|it| it.server.as_str() == server).collect();
        let unusable: Vec<_> = own.iter().filter(|it| !it.status.is_usable()).collect();
        let Some(first) = unusable.first() else {
            let usable = own.len();
            let detail = format!("{usable} definitions match their pins");
            return (usable > 0).then(|| CheckupStep::new("pins", true, detail, None));
        };
        let named = unusable.iter().map(|it| match &it.id {
            Some(id) => format!("{} {}", id.name, it.status.as_str()),
            None => format!("instructions {}", it.status.as_str()),
        });
        let hint = match first.status {
            PinStatus::Changed { .. } => format!(
                "run `toolgate pins diff {server}` to see the changes and \
                 `toolgate pins approve {server}` to approve them"
            ),
            PinStatus::Unapproved => format!("run `toolgate pins approve {server}` to approve it"),
            _ => "run `toolgate lock` to rewrite the lock file".to_owned(),
        };
        Some(CheckupStep::new("pins", false, join_names(named.collect()), Some(hint)))
    }

    fn findings(&self, server: &str) -> Option<CheckupStep> {
        let mut found = Vec::new();
        for finding in self.findings.iter().filter(|it| it.server.as_str() == server) {
            let location = finding.capability.as_ref().map(|id| format!(" in {}", id.name));
            let text = format!("{}{}", finding.code, location.unwrap_or_default());
            if !found.contains(&text) {
                found.push(text);
            }
        }
        let hint =
            "read these texts before you use the server; see docs/reference/untrusted-text.md";
        (!found.is_empty())
            .then(|| CheckupStep::new("findings", true, join_names(found), Some(hint.to_owned())))
    }

    fn decisions(&self, server: &str) -> Option<CheckupStep> {
        let own = self.forecasts.iter().filter(|it| it.id.server.as_str() == server);
        let mut counts: BTreeMap<_, usize> = BTreeMap::new();
        own.for_each(|it| *counts.entry(it.outcome.effect()).or_default() += 1);
        let all: usize = counts.values().sum();
        let parts: Vec<_> =
            counts.iter().map(|(effect, count)| format!("{count} {effect}")).collect();
        let hint = "run `toolgate exposure` to see the rule behind each decision";
        (all > 0)
            .then(|| CheckupStep::new("decisions", true, parts.join(", "), Some(hint.to_owned())))
    }
}

fn join_names(mut all: Vec<String>) -> String {
    let more = all.len().saturating_sub(MAX_NAMES);
    all.truncate(MAX_NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    all.join(", ") + &more
}
