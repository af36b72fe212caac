//! Collects records one by one and keeps the counts that a report needs.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use toolgate_host::audit::{EntryEvent, JournalEntry, JournalOutcome, SCHEMA_MISMATCH};
use toolgate_model::Effect;
use toolgate_model::time::rfc3339;
use toolgate_wire::{code, scan};

use super::ServerDefinitionStatus;
use super::report::{
    CallCounts, DecisionReasonCount, ServerUsage, SliceUsage, ToolUsage, UsageReport,
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
    approvals: HashMap<String, u64>,
    notes: HashMap<String, u64>,
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
                let (key, rest) = ((call.effect, call.because.clone()), (call.effect, REST.into()));
                *counted(&mut self.reasons, key, rest) += 1;
                match call.effect {
                    Effect::Allow => CallCounts { allowed: 1, ..one },
                    Effect::Ask => CallCounts { asked: 1, ..one },
                    Effect::Deny => CallCounts { denied: 1, ..one },
                }
            }
            EntryEvent::Approved { choice, .. } => {
                *counted(&mut self.approvals, choice.clone(), REST.to_owned()) += 1;
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

    fn count_note(&mut self, entry: &JournalEntry, kind: &str, detail: &str) {
        *counted(&mut self.notes, kind.to_owned(), REST.to_owned()) += 1;
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
        counted(&mut self.tools, key, (REST.to_owned(), String::new())).add(one, micros);
    }

    fn server(&mut self, name: &str) -> &mut ServerStats {
        counted(&mut self.servers, name.to_owned(), REST.to_owned())
    }

    /// Returns the health score of every server that has records or a definition status, by name.
    pub fn scores(&self, standings: &[ServerDefinitionStatus]) -> Vec<HealthScore> {
        let known = self.join_statuses(standings);
        known.iter().map(|(server, standing)| score(server, standing)).collect()
    }

    /// Returns the report, with the current definition status of the servers.
    pub fn report(self, standings: &[ServerDefinitionStatus]) -> UsageReport {
        let servers = self.join_statuses(standings).into_iter().map(|(server, standing)| {
            ServerUsage { score: score(server, &standing), usage: server.usage.clone() }
        });
        UsageReport {
            servers: servers.collect(),
            from: self.first.map(rfc3339),
            to: self.first.map(|_| rfc3339(self.last)),
            records: self.records,
            totals: self.totals.counts,
            latency: self.totals.latency,
            slice_seconds: self.slices.step() / 1000,
            slices: slices(self.slices),
            tools: tools(self.tools),
            reasons: reasons(self.reasons),
            approvals: self.approvals.into_iter().collect(),
            notes: self.notes.into_iter().collect(),
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
    let slice =
        |(ms, UsageStats { counts, latency })| SliceUsage { at: rfc3339(ms), counts, latency };
    slices.all().into_iter().map(slice).collect()
}

/// Returns the most used tools. Ties are ordered by name, so that equal records give equal reports.
fn tools(tools: HashMap<(String, String), UsageStats>) -> Vec<ToolUsage> {
    let tools = tools.into_iter();
    let mut tools: Vec<_> =
        tools.map(|((server, name), usage)| ToolUsage { server, name, usage }).collect();
    let used = |tool: &ToolUsage| {
        let CallCounts { calls, asked, denied, .. } = tool.usage.counts;
        calls.max(asked + denied)
    };
    tools.sort_by(|a, b| {
        used(b).cmp(&used(a)).then_with(|| (&a.server, &a.name).cmp(&(&b.server, &b.name)))
    });
    tools.truncate(TOLD);
    tools
}

fn reasons(reasons: HashMap<(Effect, String), u64>) -> Vec<DecisionReasonCount> {
    let reason = |((effect, because), count): ((Effect, String), u64)| DecisionReasonCount {
        effect: effect.as_str(),
        because,
        count,
    };
    let mut reasons: Vec<_> = reasons.into_iter().map(reason).collect();
    reasons.sort_by(|a, b| {
        b.count.cmp(&a.count).then_with(|| (a.effect, &a.because).cmp(&(b.effect, &b.because)))
    });
    reasons.truncate(TOLD);
    reasons
}

/// Returns the statistics of a key, or those of `rest` for a new key if there are too many.
fn counted<K: Eq + Hash, V: Default>(all: &mut HashMap<K, V>, key: K, rest: K) -> &mut V {
    let full = all.len() >= APART && !all.contains_key(&key);
    all.entry(if full { rest } else { key }).or_default()
}

/// Returns true if a recorded error says that the arguments were invalid.
fn says_bad_arguments(detail: &str) -> bool {
    let code = scan::member(detail.as_bytes(), "code").map(|at| at.slice(detail.as_bytes()));
    code == Some(code::INVALID_PARAMS.to_string().as_bytes())
}
