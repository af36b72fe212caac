//! Collects records one by one and keeps the counts that a report needs.

use std::collections::{BTreeMap, HashMap};

use toolgate_host::audit::{EntryEvent, JournalEntry, JournalOutcome, SCHEMA_MISMATCH};
use toolgate_model::Effect;
use toolgate_model::time::rfc3339;
use toolgate_wire::{code, scan};

use super::ServerDefinitionStatus;
use super::report::{
    CallCounts, DecisionReasonCount, LatencyPercentiles, ServerUsage, SliceUsage, ToolUsage,
    UsageReport,
};
use super::score::{HealthScore, score};
use super::server_stats::{ServerStats, UsageStats};
use super::slices::TimeSlices;

/// The maximum number of tools, and of reasons, in a report.
const TOLD: usize = 40;
/// The maximum number of names of each sort that are counted separately; the rest is counted
/// together. Names and reasons contain text of servers, which must not fill the memory.
const APART: usize = 10_000;
const REST: &str = "(others)";
/// The choices that approve a call. Every other choice refuses it.
const APPROVING: [&str; 3] = ["once", "tool", "server"];
/// The kind of the note that a definition changed since it was approved.
const DRIFT: &str = "drift";

/// Collects journal records and keeps their counts.
#[derive(Default)]
pub struct UsageCollector {
    records: u64,
    first: Option<u64>,
    last: u64,
    totals: UsageStats,
    slices: TimeSlices,
    servers: HashMap<String, ServerStats>,
    tools: HashMap<(String, String), UsageStats>,
    reasons: HashMap<(Effect, String), u64>,
    approvals: BTreeMap<String, u64>,
    notes: BTreeMap<String, u64>,
    /// The empty statistics of a server without records.
    nothing: ServerStats,
}

impl UsageCollector {
    /// Counts a journal record.
    pub fn add_entry(&mut self, entry: &JournalEntry) {
        let one = CallCounts::default();
        let mut micros = None;
        let counts = match &entry.event {
            EntryEvent::Decided(call) if call.because == SCHEMA_MISMATCH => {
                CallCounts { bad_arguments: 1, ..one }
            }
            EntryEvent::Decided(call) => {
                self.count_reason(call.effect, &call.because);
                match call.effect {
                    Effect::Allow => CallCounts { allowed: 1, ..one },
                    Effect::Ask => CallCounts { asked: 1, ..one },
                    Effect::Deny => CallCounts { denied: 1, ..one },
                }
            }
            EntryEvent::Approved { choice, .. } => {
                *self.approvals.entry(key_of(&self.approvals, choice)).or_default() += 1;
                // An answer without a call came after its call had ended.
                let denied = entry.call != 0 && !APPROVING.contains(&choice.as_str());
                CallCounts { denied: denied.into(), ..one }
            }
            EntryEvent::Done { outcome, detail, micros: took, .. } => {
                let one = CallCounts { calls: 1, ..one };
                let counts = match outcome {
                    JournalOutcome::Error if says_bad_arguments(detail) => {
                        CallCounts { bad_arguments: 1, ..one }
                    }
                    JournalOutcome::Ok => CallCounts { ok: 1, ..one },
                    JournalOutcome::ToolError => CallCounts { tool_errors: 1, ..one },
                    JournalOutcome::Error => CallCounts { errors: 1, ..one },
                    JournalOutcome::TimedOut => CallCounts { timed_out: 1, ..one },
                    JournalOutcome::Cancelled => CallCounts { cancelled: 1, ..one },
                    JournalOutcome::Unknown => CallCounts { unknown: 1, ..one },
                };
                // The duration of a call is unknown if its end was not observed.
                let observed = counts.cancelled + counts.unknown + counts.bad_arguments == 0;
                micros = observed.then_some(*took);
                counts
            }
            EntryEvent::Noted { kind, detail } => {
                self.count_note(entry, kind, detail);
                one
            }
            // Other entries concern only the file format.
            _ => return,
        };
        self.records += 1;
        self.first = Some(self.first.map_or(entry.ms, |first| first.min(entry.ms)));
        self.last = self.last.max(entry.ms);
        if counts != one {
            self.count(entry, &counts, micros);
        }
    }

    fn count_reason(&mut self, effect: Effect, because: &str) {
        let key = (effect, because.to_owned());
        let full = self.reasons.len() >= APART && !self.reasons.contains_key(&key);
        let key = if full { (effect, REST.into()) } else { key };
        *self.reasons.entry(key).or_default() += 1;
    }

    fn count_note(&mut self, entry: &JournalEntry, kind: &str, detail: &str) {
        *self.notes.entry(key_of(&self.notes, kind)).or_default() += 1;
        // A note about a whole server names it in its detail.
        let named = scan::member_text(detail.as_bytes(), "server").unwrap_or_default();
        let server = if entry.server.is_empty() { &*named } else { &entry.server };
        if kind == DRIFT && !server.is_empty() {
            self.server(server).drifts += 1;
        }
    }

    fn count(&mut self, entry: &JournalEntry, one: &CallCounts, micros: Option<u64>) {
        self.totals.add(one, micros);
        self.slices.slice_at(entry.ms).add(one, micros);
        if entry.server.is_empty() {
            return;
        }
        self.server(&entry.server).add(entry.ms, one, micros);
        let key = (entry.server.clone(), entry.name.clone());
        let full = self.tools.len() >= APART && !self.tools.contains_key(&key);
        let key = if full { (REST.to_owned(), String::new()) } else { key };
        self.tools.entry(key).or_default().add(one, micros);
    }

    fn server(&mut self, name: &str) -> &mut ServerStats {
        if !self.servers.contains_key(name) && self.servers.len() >= APART {
            return self.servers.entry(REST.to_owned()).or_default();
        }
        self.servers.entry(name.to_owned()).or_default()
    }

    /// Returns the health score of every server that has records or a definition status, by name.
    pub fn scores(&self, standings: &[ServerDefinitionStatus]) -> Vec<HealthScore> {
        let known = self.join_statuses(standings);
        known.iter().map(|(server, standing)| score(server, standing)).collect()
    }

    /// Returns the report, with the current definition status of the servers.
    pub fn report(self, standings: &[ServerDefinitionStatus]) -> UsageReport {
        let servers = self.join_statuses(standings).into_iter().map(|(server, standing)| {
            let UsageStats { counts, latency } = &server.usage;
            let (counts, latency) = (*counts, LatencyPercentiles::of(latency));
            ServerUsage { score: score(server, &standing), counts, latency }
        });
        UsageReport {
            servers: servers.collect(),
            from: self.first.map(rfc3339),
            to: self.first.map(|_| rfc3339(self.last)),
            records: self.records,
            totals: self.totals.counts,
            latency: LatencyPercentiles::of(&self.totals.latency),
            slice_seconds: self.slices.step() / 1000,
            slices: slices(self.slices),
            tools: tools(self.tools),
            reasons: reasons(self.reasons),
            approvals: self.approvals,
            notes: self.notes,
        }
    }

    /// Joins the collected statistics with the definition statuses, by server name.
    fn join_statuses(
        &self,
        standings: &[ServerDefinitionStatus],
    ) -> Vec<(&ServerStats, ServerDefinitionStatus)> {
        let mut all: BTreeMap<&str, (&ServerStats, ServerDefinitionStatus)> = standings
            .iter()
            .map(|standing| (standing.server.as_str(), (&self.nothing, standing.clone())))
            .collect();
        for (name, server) in &self.servers {
            let unknown = || ServerDefinitionStatus {
                server: name.clone(),
                ..ServerDefinitionStatus::default()
            };
            all.entry(name).or_insert_with(|| (server, unknown())).0 = server;
        }
        all.into_values().collect()
    }
}

fn slices(slices: TimeSlices) -> Vec<SliceUsage> {
    let slice = |(ms, it): (u64, UsageStats)| SliceUsage {
        at: rfc3339(ms),
        counts: it.counts,
        latency: LatencyPercentiles::of(&it.latency),
    };
    slices.all().into_iter().map(slice).collect()
}

/// Returns the most used tools. Ties are ordered by name, so that equal records give equal reports.
fn tools(tools: HashMap<(String, String), UsageStats>) -> Vec<ToolUsage> {
    let mut tools: Vec<_> = tools
        .into_iter()
        .map(|((server, name), UsageStats { counts, latency })| {
            let latency = LatencyPercentiles::of(&latency);
            ToolUsage { server, name, counts, latency }
        })
        .collect();
    let used = |tool: &ToolUsage| tool.counts.calls.max(tool.counts.asked + tool.counts.denied);
    tools.sort_by(|a, b| {
        used(b).cmp(&used(a)).then_with(|| (&a.server, &a.name).cmp(&(&b.server, &b.name)))
    });
    tools.truncate(TOLD);
    tools
}

fn reasons(reasons: HashMap<(Effect, String), u64>) -> Vec<DecisionReasonCount> {
    let mut reasons: Vec<_> = reasons
        .into_iter()
        .map(|((effect, because), count)| DecisionReasonCount {
            effect: effect.as_str(),
            because,
            count,
        })
        .collect();
    reasons.sort_by(|a, b| {
        b.count.cmp(&a.count).then_with(|| (a.effect, &a.because).cmp(&(b.effect, &b.because)))
    });
    reasons.truncate(TOLD);
    reasons
}

/// Returns the key under which a word is counted.
fn key_of(counts: &BTreeMap<String, u64>, word: &str) -> String {
    let full = counts.len() >= APART && !counts.contains_key(word);
    if full { REST.to_owned() } else { word.to_owned() }
}

/// Returns true if a recorded error says that the arguments were invalid.
fn says_bad_arguments(detail: &str) -> bool {
    let code = scan::member(detail.as_bytes(), "code").map(|at| at.slice(detail.as_bytes()));
    code == Some(code::INVALID_PARAMS.to_string().as_bytes())
}
