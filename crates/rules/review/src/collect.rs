//! Collects records one by one and keeps the counts that a report needs.

use std::collections::{BTreeMap, HashMap};

use toolgate_model::Effect;

use crate::histogram::Histogram;
use crate::report::{
    CallCounts, DecisionReasonCount, LatencyPercentiles, ServerUsage, SliceUsage, ToolUsage,
    UsageReport,
};
use crate::score::{HealthScore, ServerDefinitionStatus, score};
use crate::server_stats::ServerStats;
use crate::slices::TimeSlices;
use crate::usage_record::{APPROVING, CallOutcome, DRIFT, UsageEvent, UsageRecord};

/// Formats a point in time, given in milliseconds since 1970.
pub type TimeFormatter = fn(u64) -> String;

/// The maximum number of tools, and of reasons, in a report.
const TOLD: usize = 40;
/// The maximum number of names of each sort that are counted separately; the rest is counted
/// together. Names and reasons contain text of servers, which must not fill the memory.
const APART: usize = 10_000;
const REST: &str = "(others)";

/// Collects usage records and keeps their counts.
#[derive(Default)]
pub struct UsageCollector {
    records: u64,
    first: Option<u64>,
    last: u64,
    totals: CallCounts,
    latency: Histogram,
    slices: TimeSlices,
    servers: HashMap<String, ServerStats>,
    tools: HashMap<(String, String), (CallCounts, Histogram)>,
    reasons: HashMap<(Effect, String), u64>,
    approvals: BTreeMap<String, u64>,
    notes: BTreeMap<String, u64>,
    /// The empty statistics of a server without records.
    nothing: ServerStats,
}

impl UsageCollector {
    /// Counts a record.
    pub fn add_record(&mut self, item: &UsageRecord<'_>) {
        self.records += 1;
        self.first = Some(self.first.map_or(item.ms, |first| first.min(item.ms)));
        self.last = self.last.max(item.ms);
        match item.event {
            UsageEvent::Decided { effect, because } => self.count_decision(item, effect, because),
            UsageEvent::InvalidArguments => {
                self.count(item, &CallCounts { bad_arguments: 1, ..CallCounts::default() }, None);
            }
            UsageEvent::ApprovalAnswered(choice) => {
                *entry(&mut self.approvals, choice) += 1;
                if !APPROVING.contains(&choice) {
                    self.count(item, &CallCounts { denied: 1, ..CallCounts::default() }, None);
                }
            }
            UsageEvent::LateApproval(choice) => *entry(&mut self.approvals, choice) += 1,
            UsageEvent::Done { outcome: ended, micros } => self.count_call(item, ended, micros),
            UsageEvent::Note(kind) => {
                *entry(&mut self.notes, kind) += 1;
                if kind == DRIFT && !item.server.is_empty() {
                    self.server(item.server).drifts += 1;
                }
            }
        }
    }

    fn count_decision(&mut self, item: &UsageRecord<'_>, effect: Effect, because: &str) {
        let mut one = CallCounts::default();
        *match effect {
            Effect::Allow => &mut one.allowed,
            Effect::Ask => &mut one.asked,
            Effect::Deny => &mut one.denied,
        } = 1;
        self.count(item, &one, None);
        let full = self.reasons.len() >= APART;
        let key = (effect, because.to_owned());
        let key =
            if full && !self.reasons.contains_key(&key) { (effect, REST.into()) } else { key };
        *self.reasons.entry(key).or_default() += 1;
    }

    fn count_call(&mut self, item: &UsageRecord<'_>, ended: CallOutcome, micros: u64) {
        let mut one = CallCounts { calls: 1, ..CallCounts::default() };
        *match ended {
            CallOutcome::Ok => &mut one.ok,
            CallOutcome::ToolError => &mut one.tool_errors,
            CallOutcome::Error => &mut one.errors,
            CallOutcome::BadArguments => &mut one.bad_arguments,
            CallOutcome::TimedOut => &mut one.timed_out,
            CallOutcome::Cancelled => &mut one.cancelled,
            CallOutcome::Unknown => &mut one.unknown,
        } = 1;
        // The duration of a call is unknown if its end was not observed.
        let took = !matches!(
            ended,
            CallOutcome::Cancelled | CallOutcome::Unknown | CallOutcome::BadArguments
        );
        self.count(item, &one, took.then_some(micros));
    }

    fn count(&mut self, item: &UsageRecord<'_>, one: &CallCounts, micros: Option<u64>) {
        self.totals.add(one);
        let slice = self.slices.slice_at(item.ms);
        slice.counts.add(one);
        if let Some(micros) = micros {
            self.latency.add(micros);
            slice.latency.add(micros);
        }
        if item.server.is_empty() {
            return;
        }
        let server = self.server(item.server);
        server.counts.add(one);
        if let Some(micros) = micros {
            server.add_latency(item.ms, micros);
        }
        let (counts, latency) = self.tool(item);
        counts.add(one);
        if let Some(micros) = micros {
            latency.add(micros);
        }
    }

    fn server(&mut self, name: &str) -> &mut ServerStats {
        if !self.servers.contains_key(name) && self.servers.len() >= APART {
            return self.servers.entry(REST.to_owned()).or_default();
        }
        self.servers.entry(name.to_owned()).or_default()
    }

    fn tool(&mut self, item: &UsageRecord<'_>) -> &mut (CallCounts, Histogram) {
        let key = (item.server.to_owned(), item.name.to_owned());
        let full = self.tools.len() >= APART && !self.tools.contains_key(&key);
        let key = if full { (REST.to_owned(), String::new()) } else { key };
        self.tools.entry(key).or_default()
    }

    /// Returns the health score of every server that has records or a definition status, by name.
    pub fn scores(&self, standings: &[ServerDefinitionStatus]) -> Vec<HealthScore> {
        let known = self.join_statuses(standings);
        known.iter().map(|(server, standing)| score(server, standing)).collect()
    }

    /// Returns the report, with the current definition status of the servers.
    pub fn report(self, standings: &[ServerDefinitionStatus], time: TimeFormatter) -> UsageReport {
        let servers = self.join_statuses(standings).into_iter().map(|(server, standing)| {
            let (counts, latency) = (server.counts, LatencyPercentiles::of(&server.latency));
            ServerUsage { score: score(server, &standing), counts, latency }
        });
        UsageReport {
            servers: servers.collect(),
            from: self.first.map(time),
            to: self.first.map(|_| time(self.last)),
            records: self.records,
            totals: self.totals,
            latency: LatencyPercentiles::of(&self.latency),
            slice_seconds: self.slices.step() / 1000,
            slices: slices(self.slices, time),
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

fn slices(slices: TimeSlices, time: TimeFormatter) -> Vec<SliceUsage> {
    let slice = |(ms, it): (u64, crate::slices::SliceStats)| SliceUsage {
        at: time(ms),
        counts: it.counts,
        latency: LatencyPercentiles::of(&it.latency),
    };
    slices.all().into_iter().map(slice).collect()
}

/// Returns the most used tools. Ties are ordered by name, so that equal records give equal reports.
fn tools(tools: HashMap<(String, String), (CallCounts, Histogram)>) -> Vec<ToolUsage> {
    let mut tools: Vec<_> = tools
        .into_iter()
        .map(|((server, name), (counts, latency))| ToolUsage {
            server,
            name,
            counts,
            latency: LatencyPercentiles::of(&latency),
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

fn entry<'m>(map: &'m mut BTreeMap<String, u64>, word: &str) -> &'m mut u64 {
    if !map.contains_key(word) && map.len() >= APART {
        return map.entry(REST.to_owned()).or_default();
    }
    map.entry(word.to_owned()).or_default()
}
