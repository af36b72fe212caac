//! Renders a report as Markdown.

use std::fmt::Write as _;

use super::escape::escape_markdown as safe;
use super::report::UsageReport;
use super::score::HealthScorePart;
use super::tables::{NUMBERS, ReportTable, tables, usage_cells};

/// Renders a report as Markdown.
pub fn render_markdown(report: &UsageReport) -> String {
    let mut text = "# Toolgate report\n\n".to_owned();
    let period = match (&report.from, &report.to) {
        (Some(from), Some(to)) => format!("{from} to {to}: {} records.", report.records),
        _ => "No records.".to_owned(),
    };
    _ = writeln!(text, "{period}");
    text.push_str(&table(&ReportTable {
        title: "All calls",
        heads: NUMBERS.to_vec(),
        texts: 0,
        rows: vec![usage_cells(&report.totals, &report.latency).to_vec()],
    }));
    text.push_str(&servers(report));
    tables(report).iter().for_each(|it| text.push_str(&table(it)));
    text
}

fn servers(report: &UsageReport) -> String {
    let rows = report.servers.iter().map(|server| {
        let head = [server.score.server.clone(), graded(server.score.score)];
        head.into_iter().chain(usage_cells(&server.usage.counts, &server.usage.latency)).collect()
    });
    let mut text = table(&ReportTable {
        title: "Servers",
        heads: [&["Server", "Score"], &NUMBERS[..]].concat(),
        texts: 1,
        rows: rows.collect(),
    });
    for server in &report.servers {
        _ = writeln!(text, "\n### {}\n", safe(&server.score.server));
        for HealthScorePart { name, score, weight, detail } in &server.score.parts {
            let (of, detail) = (graded(*score), safe(detail));
            _ = writeln!(text, "- {name} {of} (weight {weight}): {detail}");
        }
    }
    text
}

fn graded(score: Option<u8>) -> String {
    score.map_or("–".to_owned(), |score| score.to_string())
}

/// Formats a table. Returns an empty text without rows.
fn table(table: &ReportTable) -> String {
    let ReportTable { title, heads, texts, rows } = table;
    if rows.is_empty() {
        return String::new();
    }
    let rule = |at: usize| if at < *texts { "---" } else { "---:" };
    let rules: Vec<_> = (0..heads.len()).map(rule).collect();
    let mut text =
        format!("\n## {title}\n\n| {} |\n| {} |\n", heads.join(" | "), rules.join(" | "));
    for row in rows {
        let cells: Vec<_> = row.iter().map(|cell| safe(cell)).collect();
        _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}
