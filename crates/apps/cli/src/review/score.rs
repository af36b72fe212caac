//! Computes the health score of a server, from 0 to 100, from parts that each explain themselves.
//!
//! `docs/reference/scores.md` documents the formula, and a test keeps the two consistent. A part without
//! data does not count; the other parts share its weight.

use serde::{Serialize, Serializer};

use super::ServerDefinitionStatus;
use super::histogram::Histogram;
use super::report::CallCounts;
use super::server_stats::ServerStats;

/// The number of recent and of past calls below which latencies are not compared.
const FEW: u64 = 20;
/// The slowdown that counts as noise.
const SLACK: f64 = 1.25;

/// The health score of a server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HealthScore {
    /// The server.
    pub server: String,
    /// The total, from 0 to 100, or none without data.
    pub score: Option<u8>,
    /// The parts of the score.
    #[serde(serialize_with = "by_name")]
    pub parts: [HealthScorePart; 5],
}

/// One part of a health score.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HealthScorePart {
    /// The name of the part.
    #[serde(skip)]
    pub name: &'static str,
    /// The value, from 0 to 100, or none without data.
    pub score: Option<u8>,
    /// The weight in percent of the total if all parts have data.
    pub weight: u8,
    /// A description of the underlying data.
    pub detail: String,
}

/// Writes the parts as one object.
fn by_name<S: Serializer>(parts: &[HealthScorePart], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(parts.iter().map(|part| (part.name, part)))
}

/// Computes the health score of a server.
pub(crate) fn score(server: &ServerStats, standing: &ServerDefinitionStatus) -> HealthScore {
    let judged = [
        ("success", 40.0, success(&server.usage.counts)),
        ("latency", 20.0, latency(server)),
        ("timeouts", 15.0, timeouts(&server.usage.counts)),
        ("drift", 15.0, drift(server.drifts, standing)),
        ("findings", 10.0, findings(standing)),
    ];
    let known = || judged.iter().filter_map(|(_, weight, (of, _))| Some((of.as_ref()?, weight)));
    let weight: f64 = known().map(|(_, weight)| weight).sum();
    let sum: f64 = known().map(|(of, weight)| of * weight).sum();
    let whole = (weight > 0.0).then(|| rounded(sum / weight));
    let parts = judged.map(|(name, weight, (of, detail))| {
        let weight = rounded(weight);
        HealthScorePart { name, score: of.map(rounded), weight, detail }
    });
    HealthScore { server: standing.server.clone(), score: whole, parts }
}

/// The unrounded value of a part, or none without data, and its description.
type RawHealthScorePart = (Option<f64>, String);

/// Scores successful calls. A tool error counts half, because the server was reachable and
/// answered.
fn success(counts: &CallCounts) -> RawHealthScorePart {
    let judged = counts.scored_calls();
    if judged == 0 {
        return (None, "no calls".to_owned());
    }
    let good = counts.ok as f64 + counts.tool_errors as f64 / 2.0;
    let detail = format!(
        "{} of {judged} calls answered with a result, {} of them an error result",
        counts.ok + counts.tool_errors,
        counts.tool_errors
    );
    (Some(100.0 * good / judged as f64), detail)
}

/// Scores the recent latency. A doubled latency costs half of the part.
fn latency(server: &ServerStats) -> RawHealthScorePart {
    let (lately, before) = server.recent_and_past_latency();
    let p95 = |of: &Histogram| of.percentile(95).filter(|_| of.count >= FEW);
    let (Some(now), Some(then)) = (p95(&lately), p95(before)) else {
        return (None, format!("fewer than {FEW} recent or past calls"));
    };
    let ratio = now as f64 / then.max(1) as f64;
    let detail = format!("recent p95 {}, past p95 {}", duration(now), duration(then));
    let part = 100.0 - 50.0 * (ratio / SLACK).log2();
    (Some(part.clamp(0.0, 100.0)), detail)
}

/// Scores timeouts. If one call in ten times out, nothing is left of the part.
fn timeouts(counts: &CallCounts) -> RawHealthScorePart {
    let judged = counts.scored_calls();
    if judged == 0 {
        return (None, "no calls".to_owned());
    }
    let share = counts.timed_out as f64 / judged as f64;
    let detail = format!("{} of {judged} calls timed out", counts.timed_out);
    (Some((100.0 - 1000.0 * share).max(0.0)), detail)
}

/// Scores changed definitions. An unapproved change weighs more than a change that was approved
/// since.
fn drift(drifts: u64, standing: &ServerDefinitionStatus) -> RawHealthScorePart {
    if !standing.known && drifts == 0 {
        return (None, "definitions unknown".to_owned());
    }
    let detail = match (standing.changed, drifts) {
        (0, 0) => "no definition changed".to_owned(),
        (now, seen) => format!("unapproved changes: {now}; changes seen: {seen}"),
    };
    let lost = 25.0 * standing.changed as f64 + 5.0 * drifts as f64;
    (Some((100.0 - lost).max(0.0)), detail)
}

fn findings(standing: &ServerDefinitionStatus) -> RawHealthScorePart {
    if !standing.known {
        return (None, "definitions unknown".to_owned());
    }
    let [light, medium, heavy] = standing.findings;
    let codes: Vec<_> = standing.codes.iter().map(String::as_str).collect();
    let detail = match &codes[..] {
        [] => "none".to_owned(),
        codes => format!("{} ({})", light + medium + heavy, codes.join(", ")),
    };
    let lost = 2.0 * light as f64 + 10.0 * medium as f64 + 30.0 * heavy as f64;
    (Some((100.0 - lost).max(0.0)), detail)
}

/// Rounds to the nearest integer between 0 and 100.
fn rounded(of: f64) -> u8 {
    of.round().clamp(0.0, 100.0) as u8
}

/// Formats a duration for people.
pub(crate) fn duration(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..10_000 => format!("{:.1} ms", micros as f64 / 1e3),
        10_000..1_000_000 => format!("{:.0} ms", micros as f64 / 1e3),
        1_000_000..60_000_000 => format!("{:.1} s", micros as f64 / 1e6),
        _ => format!("{:.0} min", micros as f64 / 6e7),
    }
}
