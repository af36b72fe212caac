//! Formats the figures as Markdown, which is also readable on a terminal.

use std::fmt::Write;

use super::eras::PAIRINGS;
use super::figures::{BenchFigures, BenchGoal, TARGETS, machine};

/// The tables, with the machine they belong to.
pub fn render(figures: &BenchFigures) -> String {
    let BenchFigures { rounds, pinning, .. } = figures;
    format!(
        "Machine: {}; {pinning}. Medians of {rounds} interleaved round(s).\n\n{}\n{}{}",
        machine(),
        goals(figures),
        cases(figures),
        eras(figures),
    )
}

/// What the forms of the protocol cost beside each other; nothing where they were not measured.
fn eras(figures: &BenchFigures) -> String {
    let rows: String = PAIRINGS
        .iter()
        .filter_map(|pairing| {
            let ratio = figures.cpu_over_legacy(pairing.name)?;
            Some(format!("| {} | {ratio:.3} |\n", pairing.name))
        })
        .collect();
    if rows.is_empty() {
        return rows;
    }
    format!("\n| client-to-upstream | CPU / legacy-to-legacy |\n|---|---:|\n{rows}")
}

fn goals(figures: &BenchFigures) -> String {
    let mut text = String::from("| what | found | target | |\n|---|---:|---:|---|\n");
    for goal in figures.goals() {
        let verdict = match goal.met() {
            Some(true) => "met",
            Some(false) => "**not met**",
            None => "not measured",
        };
        let found = goal.found.map_or("–".to_owned(), |found| number(&goal, found));
        let limit = number(&goal, goal.limit);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} | {found} | ≤ {limit} | {verdict} |", goal.about);
    }
    text
}

fn number(goal: &BenchGoal, value: f64) -> String {
    match goal.unit {
        "×" => format!("{value:.2} ×"),
        unit => format!("{value:.1} {unit}"),
    }
}

fn cases(figures: &BenchFigures) -> String {
    let mut text = String::from(
        "| case | way | calls/s | p50 µs | p99 µs | CPU µs/call | CPU / floor |\n\
         |---|---|---:|---:|---:|---:|---:|\n",
    );
    for (case, about) in figures.cases() {
        for target in TARGETS {
            let Some(run) = figures.median(case, target) else { continue };
            let ratio = figures.cpu_over_floor(case, target);
            let ratio = ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.2}"));
            let _ = writeln!(
                text,
                "| {about} | {target} | {:.0} | {:.0} | {:.0} | {:.1} | {ratio} |",
                run.calls_per_s, run.p50_us, run.p99_us, run.cpu_us,
            );
        }
    }
    text
}
