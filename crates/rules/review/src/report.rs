//! What happened in a period, in numbers: the stable shape of `report --json`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::histogram::Histogram;
use crate::score::Score;

/// A period.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Report {
    /// When the first record of it was written; none if there is none.
    pub from: Option<String>,
    /// When the last.
    pub to: Option<String>,
    /// How many records there are.
    pub records: u64,
    /// Everything together.
    pub totals: Counts,
    /// How long calls took.
    pub latency: Option<Latency>,
    /// How long a slice is, in seconds.
    pub slice_seconds: u64,
    /// Slice after slice.
    pub slices: Vec<Slice>,
    /// Each server, by name.
    pub servers: Vec<ServerReport>,
    /// The tools and other capabilities that were used most.
    pub tools: Vec<ToolReport>,
    /// What decided, the most frequent first.
    pub reasons: Vec<Reason>,
    /// What came of asking somebody: how often each choice.
    pub approvals: BTreeMap<String, u64>,
    /// What else was noted: how often each kind.
    pub notes: BTreeMap<String, u64>,
}

/// Calls, and what was decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Calls that were made and are over.
    pub calls: u64,
    /// Answered with a result.
    pub ok: u64,
    /// Answered with a result that says it is an error.
    pub tool_errors: u64,
    /// Answered with an error.
    pub errors: u64,
    /// Not answered in time.
    pub timed_out: u64,
    /// Given up by the caller.
    pub cancelled: u64,
    /// Of which nobody knows how they ended.
    pub unknown: u64,
    /// With arguments that do not fit, by the schema or by the server's word: the caller's mistake,
    /// by which no server is judged.
    pub bad_arguments: u64,
    /// Decisions to let a call through.
    pub allowed: u64,
    /// Decisions to ask somebody.
    pub asked: u64,
    /// Calls that were refused: by a rule, by a person, or because nobody approved them in time.
    pub denied: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, other: &Self) {
        let Self { calls, ok, tool_errors, errors, timed_out, .. } = other;
        let Self { cancelled, unknown, bad_arguments, allowed, asked, denied, .. } = other;
        for (into, more) in [
            (&mut self.calls, calls),
            (&mut self.ok, ok),
            (&mut self.tool_errors, tool_errors),
            (&mut self.errors, errors),
            (&mut self.timed_out, timed_out),
            (&mut self.cancelled, cancelled),
            (&mut self.unknown, unknown),
            (&mut self.bad_arguments, bad_arguments),
            (&mut self.allowed, allowed),
            (&mut self.asked, asked),
            (&mut self.denied, denied),
        ] {
            *into += more;
        }
    }

    /// Calls by which a server can be judged: not those that were taken back or badly made.
    pub(crate) fn judged(&self) -> u64 {
        self.ok + self.tool_errors + self.failed()
    }

    /// Calls that went wrong.
    pub(crate) fn failed(&self) -> u64 {
        self.errors + self.timed_out + self.unknown
    }
}

/// How long calls took, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Latency {
    /// Half of them at most.
    pub p50: u64,
    /// All but one in twenty.
    pub p95: u64,
    /// All but one in a hundred.
    pub p99: u64,
    /// The longest.
    pub max: u64,
}

impl Latency {
    pub(crate) fn of(histogram: &Histogram) -> Option<Self> {
        let percentile = |percent| histogram.percentile(percent);
        let (p50, p95, p99) = (percentile(50)?, percentile(95)?, percentile(99)?);
        Some(Self { p50, p95, p99, max: histogram.largest() })
    }
}

/// What happened in one slice of time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Slice {
    /// When it begins.
    pub at: String,
    /// What happened.
    #[serde(flatten)]
    pub counts: Counts,
    /// How long calls took.
    pub latency: Option<Latency>,
}

/// One server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ServerReport {
    /// What it is worth.
    #[serde(flatten)]
    pub score: Score,
    /// Its calls.
    pub counts: Counts,
    /// How long they took.
    pub latency: Option<Latency>,
}

/// One tool or other capability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolReport {
    /// Whose it is.
    pub server: String,
    /// The server's own name of it.
    pub name: String,
    /// Its calls.
    pub counts: Counts,
    /// How long they took.
    pub latency: Option<Latency>,
}

/// Something that decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// Which way.
    pub effect: &'static str,
    /// Because of what.
    pub because: String,
    /// How often.
    pub count: u64,
}
