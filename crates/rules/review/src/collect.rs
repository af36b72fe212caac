//! Takes records one after another and remembers what a report needs.

use std::collections::{BTreeMap, HashMap};

use toolgate_model::Effect;

use crate::histogram::Histogram;
use crate::record::{APPROVING, DRIFT, Ended, Happened, Item};
use crate::report::{Counts, Latency, Reason, Report, ServerReport, Slice, ToolReport};
use crate::score::{Score, Standing, score};
use crate::server::Server;
use crate::slices::Slices;

/// A point in time, in milliseconds since 1970, as it is written.
pub type Time = fn(u64) -> String;

/// So many tools are told of, and so many reasons.
const TOLD: usize = 40;
/// So many different things are counted one by one, of each sort; the rest is counted together.
/// Names and reasons hold words of servers, which must not fill the memory.
const APART: usize = 10_000;
const REST: &str = "(others)";

/// What was counted so far.
#[derive(Default)]
pub struct Collector {
    records: u64,
    first: Option<u64>,
    last: u64,
    totals: Counts,
    latency: Histogram,
    slices: Slices,
    servers: HashMap<String, Server>,
    tools: HashMap<(String, String), (Counts, Histogram)>,
    reasons: HashMap<(Effect, String), u64>,
    approvals: BTreeMap<String, u64>,
    notes: BTreeMap<String, u64>,
    /// What is known of a server without records.
    nothing: Server,
}

impl Collector {
    /// Counts a record.
    pub fn take(&mut self, item: &Item<'_>) {
        self.records += 1;
        self.first = Some(self.first.map_or(item.ms, |first| first.min(item.ms)));
        self.last = self.last.max(item.ms);
        match item.happened {
            Happened::Decided { effect, because } => self.decided(item, effect, because),
            Happened::Misfit => {
                self.count(item, &Counts { bad_arguments: 1, ..Counts::default() }, None);
            }
            Happened::Chosen(choice) => {
                *entry(&mut self.approvals, choice) += 1;
                if !APPROVING.contains(&choice) {
                    self.count(item, &Counts { denied: 1, ..Counts::default() }, None);
                }
            }
            Happened::Settled(choice) => *entry(&mut self.approvals, choice) += 1,
            Happened::Done { ended, micros } => self.done(item, ended, micros),
            Happened::Noted(kind) => {
                *entry(&mut self.notes, kind) += 1;
                if kind == DRIFT && !item.server.is_empty() {
                    self.server(item.server).drifts += 1;
                }
            }
        }
    }

    fn decided(&mut self, item: &Item<'_>, effect: Effect, because: &str) {
        let mut one = Counts::default();
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

    fn done(&mut self, item: &Item<'_>, ended: Ended, micros: u64) {
        let mut one = Counts { calls: 1, ..Counts::default() };
        *match ended {
            Ended::Ok => &mut one.ok,
            Ended::ToolError => &mut one.tool_errors,
            Ended::Error => &mut one.errors,
            Ended::BadArguments => &mut one.bad_arguments,
            Ended::TimedOut => &mut one.timed_out,
            Ended::Cancelled => &mut one.cancelled,
            Ended::Unknown => &mut one.unknown,
        } = 1;
        // How long a call took that nobody saw the end of is not known.
        let took = !matches!(ended, Ended::Cancelled | Ended::Unknown | Ended::BadArguments);
        self.count(item, &one, took.then_some(micros));
    }

    fn count(&mut self, item: &Item<'_>, one: &Counts, micros: Option<u64>) {
        self.totals.add(one);
        let slice = self.slices.at(item.ms);
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
            server.took(item.ms, micros);
        }
        let (counts, latency) = self.tool(item);
        counts.add(one);
        if let Some(micros) = micros {
            latency.add(micros);
        }
    }

    fn server(&mut self, name: &str) -> &mut Server {
        if !self.servers.contains_key(name) && self.servers.len() >= APART {
            return self.servers.entry(REST.to_owned()).or_default();
        }
        self.servers.entry(name.to_owned()).or_default()
    }

    fn tool(&mut self, item: &Item<'_>) -> &mut (Counts, Histogram) {
        let key = (item.server.to_owned(), item.name.to_owned());
        let full = self.tools.len() >= APART && !self.tools.contains_key(&key);
        let key = if full { (REST.to_owned(), String::new()) } else { key };
        self.tools.entry(key).or_default()
    }

    /// What every server is worth: those with records and those that stand otherwise, by name.
    pub fn scores(&self, standings: &[Standing]) -> Vec<Score> {
        let known = self.standing(standings);
        known.iter().map(|(server, standing)| score(server, standing)).collect()
    }

    /// What happened, with how servers stand now.
    pub fn report(self, standings: &[Standing], time: Time) -> Report {
        let servers = self.standing(standings).into_iter().map(|(server, standing)| {
            let (counts, latency) = (server.counts, Latency::of(&server.latency));
            ServerReport { score: score(server, &standing), counts, latency }
        });
        Report {
            servers: servers.collect(),
            from: self.first.map(time),
            to: self.first.map(|_| time(self.last)),
            records: self.records,
            totals: self.totals,
            latency: Latency::of(&self.latency),
            slice_seconds: self.slices.step() / 1000,
            slices: slices(self.slices, time),
            tools: tools(self.tools),
            reasons: reasons(self.reasons),
            approvals: self.approvals,
            notes: self.notes,
        }
    }

    /// Every server that is known from either side.
    fn standing(&self, standings: &[Standing]) -> Vec<(&Server, Standing)> {
        let mut all: BTreeMap<&str, (&Server, Standing)> = standings
            .iter()
            .map(|standing| (standing.server.as_str(), (&self.nothing, standing.clone())))
            .collect();
        for (name, server) in &self.servers {
            let unknown = || Standing { server: name.clone(), ..Standing::default() };
            all.entry(name).or_insert_with(|| (server, unknown())).0 = server;
        }
        all.into_values().collect()
    }
}

fn slices(slices: Slices, time: Time) -> Vec<Slice> {
    let slice = |(ms, it): (u64, crate::slices::Happenings)| Slice {
        at: time(ms),
        counts: it.counts,
        latency: Latency::of(&it.latency),
    };
    slices.all().into_iter().map(slice).collect()
}

/// Those used most; among equals by name, so that the same records give the same report.
fn tools(tools: HashMap<(String, String), (Counts, Histogram)>) -> Vec<ToolReport> {
    let mut tools: Vec<_> = tools
        .into_iter()
        .map(|((server, name), (counts, latency))| ToolReport {
            server,
            name,
            counts,
            latency: Latency::of(&latency),
        })
        .collect();
    let used = |tool: &ToolReport| tool.counts.calls.max(tool.counts.asked + tool.counts.denied);
    tools.sort_by(|a, b| {
        used(b).cmp(&used(a)).then_with(|| (&a.server, &a.name).cmp(&(&b.server, &b.name)))
    });
    tools.truncate(TOLD);
    tools
}

fn reasons(reasons: HashMap<(Effect, String), u64>) -> Vec<Reason> {
    let mut reasons: Vec<_> = reasons
        .into_iter()
        .map(|((effect, because), count)| Reason { effect: effect.as_str(), because, count })
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
