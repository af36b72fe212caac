//! Renders a report as Markdown.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::escape::escape_markdown as safe;
use super::report::{CallCounts, LatencyPercentiles, UsageReport};
use super::score::duration;

/// Renders a report as Markdown.
pub fn render_markdown(report: &UsageReport) -> String {
    let mut text = "# Toolgate report\n\n".to_owned();
    let period = match (&report.from, &report.to) {
        (Some(from), Some(to)) => format!("{from} to {to}: {} records.", report.records),
        _ => "No records.".to_owned(),
    };
    _ = writeln!(text, "{period}");
    text.push_str(&totals(report));
    text.push_str(&servers(report));
    text.push_str(&tools(report));
    text.push_str(&reasons(report));
    text.push_str(&tally("Approvals", "Choice", &report.approvals));
    text.push_str(&tally("Notes", "Kind", &report.notes));
    text
}

fn totals(report: &UsageReport) -> String {
    let row = cells(&report.totals, report.latency.as_ref());
    table("All calls", NUMBERS, &[], &[row])
}

fn servers(report: &UsageReport) -> String {
    let mut text = table(
        "Servers",
        &[&["Server", "Score"], NUMBERS].concat(),
        &[0],
        &report
            .servers
            .iter()
            .map(|server| {
                let head = [safe(&server.score.server), graded(server.score.score)];
                head.into_iter().chain(cells(&server.counts, server.latency.as_ref())).collect()
            })
            .collect::<Vec<_>>(),
    );
    for server in &report.servers {
        _ = writeln!(text, "\n### {}\n", safe(&server.score.server));
        for (name, part) in server.score.parts.all() {
            let (of, weight, detail) = (graded(part.score), part.weight, safe(&part.detail));
            _ = writeln!(text, "- {name} {of} (weight {weight}): {detail}");
        }
    }
    text
}

fn tools(report: &UsageReport) -> String {
    let rows = report.tools.iter().map(|tool| {
        let head = [safe(&tool.server), safe(&tool.name)];
        head.into_iter().chain(cells(&tool.counts, tool.latency.as_ref())).collect()
    });
    table("Most used", &[&["Server", "Name"], NUMBERS].concat(), &[0, 1], &rows.collect::<Vec<_>>())
}

fn reasons(report: &UsageReport) -> String {
    let rows = report.reasons.iter().map(|reason| {
        vec![reason.effect.to_owned(), safe(&reason.because), reason.count.to_string()]
    });
    table("Decision reasons", &["Decision", "Reason", "Times"], &[0, 1], &rows.collect::<Vec<_>>())
}

fn tally(title: &str, what: &str, counts: &BTreeMap<String, u64>) -> String {
    let rows = counts.iter().map(|(word, count)| vec![safe(word), count.to_string()]);
    table(title, &[what, "Times"], &[0], &rows.collect::<Vec<_>>())
}

const NUMBERS: &[&str] = &["Calls", "Failed", "Asked", "Refused", "p50", "p95", "p99"];

fn cells(counts: &CallCounts, latency: Option<&LatencyPercentiles>) -> Vec<String> {
    let took = |of: fn(&LatencyPercentiles) -> u64| {
        latency.map_or("–".to_owned(), |it| duration(of(it)))
    };
    vec![
        counts.calls.to_string(),
        counts.failed().to_string(),
        counts.asked.to_string(),
        counts.denied.to_string(),
        took(|it| it.p50),
        took(|it| it.p95),
        took(|it| it.p99),
    ]
}

fn graded(score: Option<u8>) -> String {
    score.map_or("–".to_owned(), |score| score.to_string())
}

/// Formats a table; `words` are the indices of text columns. Returns an empty text without rows.
fn table(title: &str, head: &[&str], words: &[usize], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let rule = |at: usize| if words.contains(&at) { "---" } else { "---:" };
    let rules: Vec<_> = (0..head.len()).map(rule).collect();
    let mut text = format!("\n## {title}\n\n| {} |\n| {} |\n", head.join(" | "), rules.join(" | "));
    for row in rows {
        _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}
