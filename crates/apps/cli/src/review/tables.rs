//! The tables of a report, the same in every format.

use std::collections::BTreeMap;

use super::report::{CallCounts, LatencyPercentiles, UsageReport};
use super::score::duration;

/// The columns of counts and latencies.
pub(super) const NUMBERS: [&str; 7] = ["Calls", "Failed", "Asked", "Refused", "p50", "p95", "p99"];

/// A table whose cells are not escaped.
pub(super) struct ReportTable {
    pub(super) title: &'static str,
    pub(super) heads: Vec<&'static str>,
    /// The number of columns with text. The columns after them are numbers.
    pub(super) texts: usize,
    pub(super) rows: Vec<Vec<String>>,
}

/// Returns the tables after the servers.
pub(super) fn tables(report: &UsageReport) -> [ReportTable; 4] {
    let tools = report.tools.iter().map(|tool| {
        let head = [tool.server.clone(), tool.name.clone()];
        head.into_iter().chain(usage_cells(&tool.counts, tool.latency.as_ref())).collect()
    });
    let reasons = report.reasons.iter().map(|reason| {
        vec![reason.effect.to_owned(), reason.because.clone(), reason.count.to_string()]
    });
    [
        ReportTable {
            title: "Most used",
            heads: [&["Server", "Name"], &NUMBERS[..]].concat(),
            texts: 2,
            rows: tools.collect(),
        },
        ReportTable {
            title: "Decision reasons",
            heads: vec!["Decision", "Reason", "Times"],
            texts: 2,
            rows: reasons.collect(),
        },
        tally("Approvals", "Choice", &report.approvals),
        tally("Notes", "Kind", &report.notes),
    ]
}

fn tally(title: &'static str, what: &'static str, counts: &BTreeMap<String, u64>) -> ReportTable {
    let rows = counts.iter().map(|(word, count)| vec![word.clone(), count.to_string()]);
    ReportTable { title, heads: vec![what, "Times"], texts: 1, rows: rows.collect() }
}

/// Returns the cells of [`NUMBERS`].
pub(super) fn usage_cells(
    counts: &CallCounts,
    latency: Option<&LatencyPercentiles>,
) -> [String; 7] {
    let took = |of: fn(&LatencyPercentiles) -> u64| {
        latency.map_or("–".to_owned(), |latency| duration(of(latency)))
    };
    let CallCounts { calls, asked, denied, .. } = counts;
    [
        calls.to_string(),
        counts.failed().to_string(),
        asked.to_string(),
        denied.to_string(),
        took(|latency| latency.p50),
        took(|latency| latency.p95),
        took(|latency| latency.p99),
    ]
}
