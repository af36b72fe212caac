//! What stands between a server that is up and a call of its tools: pins, findings, rules.
//!
//! Only what the gate and the rules say is told. Findings are warnings, and a rule that refuses is
//! somebody's wish: neither is a failure. A definition that is not what was approved is one.

use std::collections::BTreeMap;

use toolgate_host::review::PinStanding;
use toolgate_host::{DEFAULT_PROFILE, Host, Outlook, PinState};

use super::checkup::Step;

/// So many are named; the rest is counted.
const NAMED: usize = 5;

/// How everything stands, of all servers.
pub(super) struct Decided {
    pins: Vec<PinState>,
    findings: BTreeMap<String, Vec<String>>,
    outlook: Vec<Outlook>,
}

impl Decided {
    pub(super) fn of(host: &Host) -> Self {
        let mut findings: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for finding in host.text_findings() {
            let server = finding.server.to_string();
            let whose = finding.capability.as_ref().map(|id| format!(" in {}", id.name));
            let told = format!("{}{}", finding.code, whose.unwrap_or_default());
            let told_before = findings.entry(server).or_default();
            if !told_before.contains(&told) {
                told_before.push(told);
            }
        }
        // The default profile is always there.
        let outlook = host.outlook(DEFAULT_PROFILE).unwrap_or_default();
        Self { pins: host.pin_states(), findings, outlook }
    }

    /// The steps of one server; none where nothing is known.
    pub(super) fn steps(&self, server: &str) -> Vec<Step> {
        let steps = [self.pins(server), self.findings(server), self.decisions(server)];
        steps.into_iter().flatten().collect()
    }

    fn pins(&self, server: &str) -> Option<Step> {
        let own: Vec<_> = self.pins.iter().filter(|it| it.server.as_str() == server).collect();
        let unusable: Vec<_> = own.iter().filter(|it| !it.standing.is_usable()).collect();
        let Some(first) = unusable.first() else {
            let usable = own.len();
            let detail = format!("{usable} definitions are as they were approved");
            return (usable > 0).then(|| step("pins", true, detail, None));
        };
        let named = unusable.iter().map(|it| match &it.id {
            Some(id) => format!("{} {}", id.name, it.standing.as_str()),
            None => format!("instructions {}", it.standing.as_str()),
        });
        let hint = match first.standing {
            PinStanding::Changed { .. } => format!(
                "`toolgate pins diff {server}` shows how, `toolgate pins approve {server}` \
                 approves it as it is now"
            ),
            PinStanding::Unapproved => format!("`toolgate pins approve {server}` approves it"),
            _ => "`toolgate lock` writes the lock file anew".to_owned(),
        };
        Some(step("pins", false, listed(named.collect()), Some(hint)))
    }

    fn findings(&self, server: &str) -> Option<Step> {
        let found = self.findings.get(server)?;
        let hint = "read what it says before you rely on it: docs/untrusted-text.md".to_owned();
        Some(step("findings", true, listed(found.clone()), Some(hint)))
    }

    fn decisions(&self, server: &str) -> Option<Step> {
        let own = self.outlook.iter().filter(|it| it.id.server.as_str() == server);
        let mut counts: BTreeMap<_, usize> = BTreeMap::new();
        own.for_each(|it| *counts.entry(it.outcome.effect()).or_default() += 1);
        let all: usize = counts.values().sum();
        let told = counts.iter().map(|(effect, count)| format!("{count} {effect}"));
        let told: Vec<_> = told.collect();
        let hint = "`toolgate exposure` says what decides about each";
        (all > 0).then(|| step("decisions", true, told.join(", "), Some(hint.to_owned())))
    }
}

fn step(name: &str, ok: bool, detail: String, hint: Option<String>) -> Step {
    Step { name: name.to_owned(), ok, ms: 0, detail: Some(detail), hint }
}

fn listed(mut all: Vec<String>) -> String {
    let more = all.len().saturating_sub(NAMED);
    all.truncate(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    all.join(", ") + &more
}
