//! The types of a usage report. They define the stable format of `report --json`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::histogram::Histogram;
use super::score::HealthScore;
use super::server_stats::UsageStats;

/// The usage of all servers in one period.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct UsageReport {
    /// The time of the first record, or none without records.
    pub from: Option<String>,
    /// The time of the last record, or none without records.
    pub to: Option<String>,
    /// The number of records.
    pub records: u64,
    /// The counts of the whole period.
    pub totals: CallCounts,
    /// The latency of all calls.
    pub latency: Histogram,
    /// The length of a slice, in seconds.
    pub slice_seconds: u64,
    /// The usage per slice, in order of time.
    pub slices: Vec<SliceUsage>,
    /// The usage per server, by name.
    pub servers: Vec<ServerUsage>,
    /// The most used tools and other capabilities.
    pub tools: Vec<ToolUsage>,
    /// The reasons of decisions, the most frequent first.
    pub reasons: Vec<DecisionReasonCount>,
    /// The number of answers to approval requests, by choice.
    pub approvals: BTreeMap<String, u64>,
    /// The number of other journal notes, by kind.
    pub notes: BTreeMap<String, u64>,
}

/// The numbers of calls by outcome and of decisions by effect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CallCounts {
    /// Calls that were made and have ended.
    pub calls: u64,
    /// Calls answered with a result.
    pub ok: u64,
    /// Calls answered with a result that is marked as an error.
    pub tool_errors: u64,
    /// Calls answered with a JSON-RPC error.
    pub errors: u64,
    /// Calls that timed out.
    pub timed_out: u64,
    /// Calls that the caller cancelled.
    pub cancelled: u64,
    /// Calls with an unknown outcome.
    pub unknown: u64,
    /// Calls with arguments that the schema or the server refused. They do not affect the score,
    /// because the caller made the mistake.
    pub bad_arguments: u64,
    /// Decisions to allow a call.
    pub allowed: u64,
    /// Decisions to ask for an approval.
    pub asked: u64,
    /// Calls that were refused by a rule or a person, or because no approval came in time.
    pub denied: u64,
}

impl CallCounts {
    pub(crate) fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.ok += other.ok;
        self.tool_errors += other.tool_errors;
        self.errors += other.errors;
        self.timed_out += other.timed_out;
        self.cancelled += other.cancelled;
        self.unknown += other.unknown;
        self.bad_arguments += other.bad_arguments;
        self.allowed += other.allowed;
        self.asked += other.asked;
        self.denied += other.denied;
    }

    /// Returns the number of calls that count for the score: neither cancelled nor invalid ones.
    pub(crate) fn scored_calls(&self) -> u64 {
        self.ok + self.tool_errors + self.failed()
    }

    /// Returns the number of failed calls.
    pub(crate) fn failed(&self) -> u64 {
        self.errors + self.timed_out + self.unknown
    }
}

/// The usage in one slice of time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SliceUsage {
    /// The start of the slice.
    pub at: String,
    /// The counts of the slice.
    #[serde(flatten)]
    pub counts: CallCounts,
    /// The latency of the calls in the slice.
    pub latency: Histogram,
}

/// The usage and health score of one server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ServerUsage {
    /// The health score.
    #[serde(flatten)]
    pub score: HealthScore,
    /// The calls of the server.
    #[serde(flatten)]
    pub usage: UsageStats,
}

/// The usage of one tool or other capability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolUsage {
    /// The server that offers it.
    pub server: String,
    /// The name that the server gives it.
    pub name: String,
    /// The calls of the capability.
    #[serde(flatten)]
    pub usage: UsageStats,
}

/// How often one reason led to a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DecisionReasonCount {
    /// The effect of the decision.
    pub effect: &'static str,
    /// The reason.
    pub because: String,
    /// The number of decisions.
    pub count: u64,
}
