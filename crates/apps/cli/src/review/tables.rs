//! The tables of a report, the same in every format.

use std::collections::BTreeMap;

use super::histogram::Histogram;
use super::report::{CallCounts, UsageReport};
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
        head.into_iter().chain(usage_cells(&tool.usage.counts, &tool.usage.latency)).collect()
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
pub(super) fn usage_cells(counts: &CallCounts, latency: &Histogram) -> [String; 7] {
    let CallCounts { calls, asked, denied, .. } = *counts;
    let [calls, failed, asked, denied] =
        [calls, counts.failed(), asked, denied].map(|count| count.to_string());
    let [p50, p95, p99] = [50, 95, 99].map(|percent| percentile_text(latency, percent));
    [calls, failed, asked, denied, p50, p95, p99]
}

/// Formats a percentile for people.
pub(super) fn percentile_text(latency: &Histogram, percent: u64) -> String {
    latency.percentile(percent).map_or("–".to_owned(), duration)
}
