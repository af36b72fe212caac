//! What a server is worth, from 0 to 100, in parts that each say what they are made of.
//!
//! `docs/operations.md` tells the formula to people; a test holds the two together. A part that
//! nothing is known about does not count: the others share its weight.

use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;
use crate::report::Counts;
use crate::server::Server;

/// What each part weighs, in the order of [`Parts`].
const WEIGHTS: [f64; 5] = [40.0, 20.0, 15.0, 15.0, 10.0];
/// Fewer calls than that, lately or before, say nothing about time.
const FEW: u64 = 20;
/// Slower by so much is chance.
const SLACK: f64 = 1.25;

/// What is known of a server beside the journal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// Its name.
    pub server: String,
    /// Whether its definitions are known, so that the parts below say something.
    pub known: bool,
    /// How many of its definitions are now other than they were approved.
    pub changed: u64,
    /// Findings in its words: light, medium and heavy ones.
    pub findings: [u64; 3],
    /// The codes of these findings, each once.
    pub codes: Vec<String>,
}

/// What a server is worth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Score {
    /// The server.
    pub server: String,
    /// The whole, from 0 to 100; none if nothing is known.
    pub score: Option<u8>,
    /// What it is made of.
    pub parts: Parts,
}

/// What a score is made of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Parts {
    /// Calls that the server answered with a result.
    pub success: Part,
    /// How long calls take, against its own past.
    pub latency: Part,
    /// Calls that took too long.
    pub timeouts: Part,
    /// Definitions that changed since they were approved.
    pub drift: Part,
    /// What is suspicious in its words.
    pub findings: Part,
}

/// One part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// From 0 to 100; none if nothing is known.
    pub score: Option<u8>,
    /// What it weighs, in percent of the whole when all parts are known.
    pub weight: u8,
    /// What it is made of, in words.
    pub detail: String,
}

impl Parts {
    /// All of them with their names, in order.
    pub fn all(&self) -> [(&'static str, &Part); 5] {
        [
            ("success", &self.success),
            ("latency", &self.latency),
            ("timeouts", &self.timeouts),
            ("drift", &self.drift),
            ("findings", &self.findings),
        ]
    }
}

/// The score of a server.
pub(crate) fn score(server: &Server, standing: &Standing) -> Score {
    let judged = [
        success(&server.counts),
        latency(server),
        timeouts(&server.counts),
        drift(server.drifts, standing),
        findings(standing),
    ];
    let known = || judged.iter().zip(WEIGHTS).filter_map(|((of, _), w)| Some((of.as_ref()?, w)));
    let weight: f64 = known().map(|(_, weight)| weight).sum();
    let sum: f64 = known().map(|(of, weight)| of * weight).sum();
    let whole = (weight > 0.0).then(|| rounded(sum / weight));
    let mut parts = judged.into_iter().zip(WEIGHTS).map(|((of, detail), weight)| Part {
        score: of.map(rounded),
        weight: rounded(weight),
        detail,
    });
    let mut next =
        || parts.next().unwrap_or(Part { score: None, weight: 0, detail: String::new() });
    let parts = Parts {
        success: next(),
        latency: next(),
        timeouts: next(),
        drift: next(),
        findings: next(),
    };
    Score { server: standing.server.clone(), score: whole, parts }
}

/// A part and what it is made of; no part where nothing is known.
type Judged = (Option<f64>, String);

/// A tool that says it failed is half a success: its server was there and answered.
fn success(counts: &Counts) -> Judged {
    let judged = counts.judged();
    if judged == 0 {
        return (None, "no calls".to_owned());
    }
    let good = counts.ok as f64 + counts.tool_errors as f64 / 2.0;
    let detail = format!(
        "{} of {judged} calls answered with a result, {} said it is an error",
        counts.ok + counts.tool_errors,
        counts.tool_errors
    );
    (Some(100.0 * good / judged as f64), detail)
}

/// Twice as long as before costs half of it.
fn latency(server: &Server) -> Judged {
    let (lately, before) = server.lately_and_before();
    let p95 = |of: &Histogram| of.percentile(95).filter(|_| of.count() >= FEW);
    let (Some(now), Some(then)) = (p95(&lately), p95(before)) else {
        return (None, format!("fewer than {FEW} calls lately or before"));
    };
    let ratio = now as f64 / then.max(1) as f64;
    let detail = format!("p95 {} lately, {} before", duration(now), duration(then));
    let part = 100.0 - 50.0 * (ratio / SLACK).log2();
    (Some(part.clamp(0.0, 100.0)), detail)
}

/// One in ten is as bad as all.
fn timeouts(counts: &Counts) -> Judged {
    let judged = counts.judged();
    if judged == 0 {
        return (None, "no calls".to_owned());
    }
    let share = counts.timed_out as f64 / judged as f64;
    let detail = format!("{} of {judged} calls took too long", counts.timed_out);
    (Some((100.0 - 1000.0 * share).max(0.0)), detail)
}

/// What is changed now weighs more than what changed once and was approved again.
fn drift(drifts: u64, standing: &Standing) -> Judged {
    if !standing.known && drifts == 0 {
        return (None, "its definitions are not known".to_owned());
    }
    let detail = match (standing.changed, drifts) {
        (0, 0) => "no definition changed".to_owned(),
        (now, seen) => format!("not as approved now: {now}; changes seen: {seen}"),
    };
    let lost = 25.0 * standing.changed as f64 + 5.0 * drifts as f64;
    (Some((100.0 - lost).max(0.0)), detail)
}

fn findings(standing: &Standing) -> Judged {
    if !standing.known {
        return (None, "its definitions are not known".to_owned());
    }
    let [light, medium, heavy] = standing.findings;
    let detail = match &standing.codes[..] {
        [] => "none".to_owned(),
        codes => format!("{} ({})", light + medium + heavy, codes.join(", ")),
    };
    let lost = 2.0 * light as f64 + 10.0 * medium as f64 + 30.0 * heavy as f64;
    (Some((100.0 - lost).max(0.0)), detail)
}

/// A number between 0 and 100, to the nearest whole one.
fn rounded(of: f64) -> u8 {
    of.round().clamp(0.0, 100.0) as u8
}

/// A duration as people say it.
pub(crate) fn duration(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..10_000 => format!("{:.1} ms", micros as f64 / 1e3),
        10_000..1_000_000 => format!("{:.0} ms", micros as f64 / 1e3),
        1_000_000..60_000_000 => format!("{:.1} s", micros as f64 / 1e6),
        _ => format!("{:.0} min", micros as f64 / 6e7),
    }
}
