//! Renders a report as a self-contained HTML page without scripts or external resources. All text
//! from servers is escaped.

mod plot;

use std::fmt::Write as _;

use super::escape::escape_html as safe;
use super::report::{CallCounts, ServerUsage, UsageReport};
use super::score::{HealthScorePart, duration};
use super::tables::{NUMBERS, ReportTable, percentile_text, tables, usage_cells};

use plot::{Plot, PlotSeries};

/// The page shows all columns of numbers but the last, which does not fit its width.
const SHOWN_NUMBERS: usize = NUMBERS.len() - 1;
const HIDDEN_NUMBER: &str = NUMBERS[SHOWN_NUMBERS];

/// The content security policy. Even if escaping failed, a browser would load and run nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; \
                      form-action 'none'";

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1c2733; --soft: #66717d; --line: #d5dbe1; --paper: #fff;
  --good: #2f7d4f; --fair: #b7791f; --bad: #b3372f; --cool: #3a6ea5; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e8ee; --soft: #9aa5b1; --line: #36414d;
  --paper: #151b22; --good: #5cb585; --fair: #dfae57; --bad: #e0776f; --cool: #7aaee0; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
p, figcaption, .soft { color: var(--soft); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: anywhere; }
td.n, th.n { text-align: right; white-space: nowrap; }
figure { margin: 1rem 0; } svg { width: 100%; height: auto; }
svg text { font: 11px system-ui, sans-serif; fill: var(--soft); }
svg .grid { stroke: var(--line); } svg .gap { fill: none; stroke-width: 1.8; }
.good { fill: var(--good); color: var(--good); } .fair { fill: var(--fair); color: var(--fair); }
.bad { fill: var(--bad); color: var(--bad); } .cool { fill: var(--cool); color: var(--cool); }
path.good { stroke: var(--good); } path.fair { stroke: var(--fair); } path.bad { stroke: var(--bad); }
.tiles { display: flex; flex-wrap: wrap; gap: 1rem; padding: 0; list-style: none; }
.tiles li { border: 1px solid var(--line); border-radius: .4rem; padding: .6rem 1rem; }
.tiles b { display: block; font-size: 1.3rem; }
details { margin: .4rem 0; }
";

/// Renders a report as an HTML page.
pub fn render_html(report: &UsageReport) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Toolgate report</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <h1>Toolgate report</h1>\n"
    );
    page.push_str(&opening(report));
    if !report.slices.is_empty() {
        page.push_str(&plots(report));
    }
    page.push_str(&servers(&report.servers));
    tables(report).iter().for_each(|table| page.push_str(&render_table(table)));
    page.push_str("</body>\n</html>\n");
    page
}

fn opening(report: &UsageReport) -> String {
    let period = match (&report.from, &report.to) {
        (Some(from), Some(to)) => format!("{} to {}", safe(from), safe(to)),
        _ => "no records".to_owned(),
    };
    let CallCounts { calls, asked, denied, .. } = report.totals;
    let tiles = [
        ("calls", calls.to_string()),
        ("failed", report.totals.failed().to_string()),
        ("p95", percentile_text(&report.latency, 95)),
        ("asked about", asked.to_string()),
        ("refused", denied.to_string()),
        ("records", report.records.to_string()),
    ];
    let tiles: String =
        tiles.iter().map(|(what, value)| format!("<li><b>{value}</b>{what}</li>")).collect();
    format!("<p>{period}</p>\n<ul class=\"tiles\">{tiles}</ul>\n")
}

fn plots(report: &UsageReport) -> String {
    let slices = &report.slices;
    let labels: Vec<&str> = slices.iter().map(|slice| slice.at.as_str()).collect();
    let count = |of: fn(&CallCounts) -> u64| {
        slices.iter().map(|slice| Some(of(&slice.counts))).collect::<Vec<_>>()
    };
    let took = |percent: u64| {
        slices.iter().map(|slice| slice.latency.percentile(percent)).collect::<Vec<_>>()
    };
    let calls = [
        PlotSeries::new("ok", "good", count(|it| it.ok)),
        PlotSeries::new("tool errors", "fair", count(|it| it.tool_errors)),
        PlotSeries::new("failed", "bad", count(CallCounts::failed)),
        PlotSeries::new("cancelled", "cool", count(|it| it.cancelled)),
    ];
    let latency = [
        PlotSeries::new("p50", "good", took(50)),
        PlotSeries::new("p95", "fair", took(95)),
        PlotSeries::new("p99", "bad", took(99)),
    ];
    let decisions = [
        PlotSeries::new("allowed", "good", count(|it| it.allowed)),
        PlotSeries::new("asked", "fair", count(|it| it.asked)),
        PlotSeries::new("denied", "bad", count(|it| it.denied)),
    ];
    let number: fn(u64) -> String = |value| value.to_string();
    let plot = |title, shown, series| Plot { title, labels: &labels, format_value: shown, series };
    [
        plot("Calls", number, &calls).bars(),
        plot("Latency", duration, &latency).lines(),
        plot("Decisions", number, &decisions).bars(),
    ]
    .concat()
}

fn servers(servers: &[ServerUsage]) -> String {
    let mut rows = String::new();
    for server in servers {
        let score = &server.score;
        let part_row = |part: &HealthScorePart| {
            let HealthScorePart { name, weight, .. } = part;
            let ((shade, of), detail) = (graded(part.score), safe(&part.detail));
            format!(
                "<tr><td>{name}</td><td class=\"n {shade}\">{of}</td><td class=\"n\">{weight}</td>\
                 <td>{detail}</td></tr>"
            )
        };
        let parts: String = score.parts.iter().map(part_row).collect();
        let (shade, whole) = graded(score.score);
        let parts = format!(
            "<details><summary>parts</summary><table><tr><th>Part</th><th class=\"n\">Score</th>\
             <th class=\"n\">Weight</th><th>Details</th></tr>{parts}</table></details>"
        );
        let name = safe(&score.server);
        let cells = usage_cells(&server.usage.counts, &server.usage.latency);
        let cells: String = cells.iter().take(SHOWN_NUMBERS).map(|it| number_cell(it)).collect();
        _ = writeln!(
            rows,
            "<tr><td>{name}{parts}</td><td class=\"n {shade}\"><b>{whole}</b></td>{cells}</tr>"
        );
    }
    let numbers = NUMBERS.iter().take(SHOWN_NUMBERS);
    let heads: String = numbers.map(|name| head_cell(name, true)).collect();
    section("Servers", &format!("<th>Server</th><th class=\"n\">Score</th>{heads}"), &rows)
}

fn render_table(table: &ReportTable) -> String {
    let shown = |at: &usize| table.heads[*at] != HIDDEN_NUMBER;
    let columns: Vec<_> = (0..table.heads.len()).filter(shown).collect();
    let heads: String =
        columns.iter().map(|&at| head_cell(table.heads[at], at >= table.texts)).collect();
    let mut rows = String::new();
    for row in &table.rows {
        let cells = columns.iter().map(|&at| match at < table.texts {
            true => format!("<td>{}</td>", safe(&row[at])),
            false => number_cell(&row[at]),
        });
        _ = writeln!(rows, "<tr>{}</tr>", cells.collect::<String>());
    }
    section(table.title, &heads, &rows)
}

fn head_cell(name: &str, is_number: bool) -> String {
    format!("<th{}>{name}</th>", if is_number { " class=\"n\"" } else { "" })
}

fn number_cell(text: &str) -> String {
    format!("<td class=\"n\">{text}</td>")
}

fn section(title: &str, head: &str, rows: &str) -> String {
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "<h2>{title}</h2>\n<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n\
         </table>\n"
    )
}

/// Returns the CSS class and the text of a score.
fn graded(score: Option<u8>) -> (&'static str, String) {
    match score {
        None => ("soft", "–".to_owned()),
        Some(score @ 80..) => ("good", score.to_string()),
        Some(score @ 50..80) => ("fair", score.to_string()),
        Some(score) => ("bad", score.to_string()),
    }
}
