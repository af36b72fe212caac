//! Gathers the operator's review: usage counts from the journal and the status of the servers.
//!
//! `rules/review` defines what the numbers mean. This module only reads.

use std::collections::{BTreeMap, BTreeSet};

pub use toolgate_findings::Finding as TextFinding;
use toolgate_findings::{Finding, FindingSeverity, find_across_servers, find_in_server};
use toolgate_gate::{DecisionForecast, PinStatusEntry};
use toolgate_model::ServerName;
use toolgate_policy::SCHEMA_MISMATCH;
use toolgate_store::journal::{EntryEvent, JournalEntry, JournalOutcome, read_since};
use toolgate_wire::{code, scan};

pub use toolgate_pins::PinStatus;
pub use toolgate_review::{
    CallOutcome, HealthScore, ScoreBreakdown, ScorePart, ServerDefinitionStatus, UsageCollector,
    UsageEvent, UsageRecord, UsageReport, render_html, render_markdown,
};
pub use toolgate_store::journal::{parse_rfc3339, rfc3339};

use crate::audit::AuditError;
use crate::{Home, Host, HostError};

/// The usage counts of a home's journal.
pub struct JournalCounts {
    /// The counts.
    pub collector: UsageCollector,
    /// The errors of lines that could not be read and were skipped.
    pub unread: Vec<AuditError>,
}

/// The maximum number of read errors to report.
const COMPLAINTS: usize = 20;

/// Counts the journal entries of a home since a time (milliseconds since 1970).
pub fn count_journal(home: &Home, since: u64) -> Result<JournalCounts, AuditError> {
    let mut tally = JournalCounts { collector: UsageCollector::default(), unread: Vec::new() };
    for entry in read_since(&home.state_dir().join("journal"), since)? {
        match entry {
            Ok(entry) => take(&mut tally.collector, &entry),
            Err(error) if tally.unread.len() < COMPLAINTS => tally.unread.push(error),
            Err(_) => {}
        }
    }
    Ok(tally)
}

fn take(collector: &mut UsageCollector, entry: &JournalEntry) {
    let noted;
    let mut server = entry.server.as_str();
    let happened = match &entry.event {
        EntryEvent::Decided(it) if it.because == SCHEMA_MISMATCH => UsageEvent::InvalidArguments,
        EntryEvent::Decided(it) => UsageEvent::Decided { effect: it.effect, because: &it.because },
        EntryEvent::Approved { choice, .. } if entry.call == 0 => UsageEvent::LateApproval(choice),
        EntryEvent::Approved { choice, .. } => UsageEvent::ApprovalAnswered(choice),
        EntryEvent::Done { outcome: JournalOutcome::Error, detail, micros, .. }
            if says_bad_arguments(detail) =>
        {
            UsageEvent::Done { outcome: CallOutcome::BadArguments, micros: *micros }
        }
        EntryEvent::Done { outcome, micros, .. } => {
            UsageEvent::Done { outcome: ended(*outcome), micros: *micros }
        }
        EntryEvent::Noted { kind, detail } => {
            // A note about a whole server names it in its detail.
            noted = scan::member_text(detail.as_bytes(), "server").map(|it| it.into_owned());
            server = noted.as_deref().filter(|_| server.is_empty()).unwrap_or(server);
            UsageEvent::Note(kind)
        }
        // Other entries concern only the file format.
        _ => return,
    };
    collector.add_record(&UsageRecord { ms: entry.ms, server, name: &entry.name, event: happened });
}

/// Returns true if a recorded error says that the arguments were invalid.
fn says_bad_arguments(detail: &str) -> bool {
    let code = scan::member(detail.as_bytes(), "code").map(|at| at.slice(detail.as_bytes()));
    code == Some(code::INVALID_PARAMS.to_string().as_bytes())
}

fn ended(outcome: JournalOutcome) -> CallOutcome {
    match outcome {
        JournalOutcome::Ok => CallOutcome::Ok,
        JournalOutcome::ToolError => CallOutcome::ToolError,
        JournalOutcome::Error => CallOutcome::Error,
        JournalOutcome::TimedOut => CallOutcome::TimedOut,
        JournalOutcome::Cancelled => CallOutcome::Cancelled,
        JournalOutcome::Unknown => CallOutcome::Unknown,
    }
}

impl Host {
    /// Returns for every server how many definitions changed since their approval, and the findings
    /// in its texts.
    pub fn server_health(&self) -> Vec<ServerDefinitionStatus> {
        let servers = self.servers().servers;
        let mut standings: BTreeMap<_, _> = servers
            .iter()
            .map(|status| {
                let (server, known) = (status.spec.name.to_string(), status.catalog.is_some());
                (
                    status.spec.name.clone(),
                    ServerDefinitionStatus { server, known, ..ServerDefinitionStatus::default() },
                )
            })
            .collect();
        for state in self.pin_states() {
            let changed = matches!(state.status, PinStatus::Changed { .. });
            if let Some(standing) = standings.get_mut(&state.server).filter(|_| changed) {
                standing.changed += 1;
            }
        }
        let mut codes: BTreeMap<ServerName, BTreeSet<&'static str>> = BTreeMap::new();
        for finding in self.text_findings() {
            if let Some(standing) = standings.get_mut(&finding.server) {
                standing.findings[weight(finding.severity)] += 1;
                codes.entry(finding.server).or_default().insert(finding.code.as_str());
            }
        }
        for (server, codes) in codes {
            if let Some(standing) = standings.get_mut(&server) {
                standing.codes = codes.into_iter().map(str::to_owned).collect();
            }
        }
        standings.into_values().collect()
    }

    /// Returns the findings in the texts of all servers, from their last known catalogs.
    pub fn text_findings(&self) -> Vec<Finding> {
        let servers = self.servers().servers;
        let known: Vec<_> = servers
            .iter()
            .filter_map(|status| Some((&status.spec.name, &**status.catalog.as_ref()?)))
            .collect();
        let alone = known.iter().flat_map(|(server, catalog)| find_in_server(server, catalog));
        alone.chain(find_across_servers(&known)).collect()
    }

    /// Returns the pin status of all definitions.
    pub fn pin_states(&self) -> Vec<PinStatusEntry> {
        self.gate().pin_statuses()
    }

    /// Returns what would be decided about every capability of a profile, for a client that can
    /// show forms.
    pub fn preview_decisions(&self, profile: &str) -> Result<Vec<DecisionForecast>, HostError> {
        let (caller, port) = self.hypothetical_caller(profile, "")?;
        self.gate().forecast_decisions(&caller, &port).map_err(HostError::NoProfile)
    }
}

fn weight(severity: FindingSeverity) -> usize {
    match severity {
        FindingSeverity::Low => 0,
        FindingSeverity::Medium => 1,
        FindingSeverity::High => 2,
    }
}
