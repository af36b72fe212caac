//! Scores and reports from records: the results are deterministic, and the counts are correct.

use proptest::prelude::*;
use toolgate_host::audit::{DecidedCall, EntryEvent, JournalEntry, JournalOutcome};
use toolgate_model::Effect;

use super::report::UsageReport;
use super::{HealthScore, ServerDefinitionStatus, UsageCollector, render_html, render_markdown};

const HOUR: u64 = 3_600_000;
/// 2026-11-16T10:00:00Z.
const START: u64 = 1_794_823_200_000;

fn entry(ms: u64, server: &str, name: &str, event: EntryEvent) -> JournalEntry {
    JournalEntry {
        chain: "chain".into(),
        seq: 1,
        ms,
        mono: 0,
        call: 1,
        caller: "local".into(),
        client: "client".into(),
        profile: "default".into(),
        server: server.into(),
        kind: None,
        name: name.into(),
        event,
        line: String::new(),
    }
}

fn done(ms: u64, server: &str, outcome: JournalOutcome, micros: u64) -> JournalEntry {
    entry(ms, server, "tool", EntryEvent::Done { outcome, detail: String::new(), micros, bytes: 0 })
}

fn decision(effect: Effect, because: &str) -> EntryEvent {
    EntryEvent::Decided(DecidedCall {
        effect,
        because: because.into(),
        method: "tools/call".into(),
        definition: None,
        arguments_digest: None,
        arguments: None,
        oversize: None,
        other_params: None,
        other_params_oversize: None,
        read_only: false,
        tags: Vec::new(),
    })
}

fn decided(ms: u64, effect: Effect, because: &str) -> JournalEntry {
    entry(ms, "files", "read", decision(effect, because))
}

fn drift(ms: u64, server: &str, name: &str) -> JournalEntry {
    entry(ms, server, name, EntryEvent::Noted { kind: "drift".into(), detail: "{}".into() })
}

fn collected(items: &[JournalEntry]) -> UsageCollector {
    let mut collector = UsageCollector::default();
    items.iter().for_each(|item| collector.add_entry(item));
    collector
}

fn known(server: &str) -> ServerDefinitionStatus {
    ServerDefinitionStatus {
        server: server.to_owned(),
        known: true,
        ..ServerDefinitionStatus::default()
    }
}

fn score(items: &[JournalEntry], standing: ServerDefinitionStatus) -> HealthScore {
    collected(items).scores(&[standing]).remove(0)
}

fn parts(score: &HealthScore) -> [Option<u8>; 5] {
    score.parts.each_ref().map(|part| part.score)
}

/// Fifty calls in the hour before, fifty now, with these durations.
fn two_days(before: u64, now: u64) -> Vec<JournalEntry> {
    let old = (0..50).map(|at| done(START + at, "files", JournalOutcome::Ok, before));
    let new = (0..50).map(|at| done(START + 30 * HOUR + at, "files", JournalOutcome::Ok, now));
    old.chain(new).collect()
}

#[test]
fn a_server_that_does_everything_right_has_a_hundred() {
    let score = score(&two_days(1000, 1000), known("files"));
    assert_eq!(parts(&score), [Some(100); 5]);
    assert_eq!(score.score, Some(100));
}

#[test]
fn a_server_of_which_nothing_is_known_has_no_score() {
    let score = score(
        &[],
        ServerDefinitionStatus { server: "files".into(), ..ServerDefinitionStatus::default() },
    );
    assert_eq!((parts(&score), score.score), ([None; 5], None));
}

#[test]
fn twice_as_slow_as_its_own_past_costs_half_of_that_part() {
    let slower = score(&two_days(1_000_000, 2_500_000), known("files"));
    let part = slower.parts[1].score.unwrap();
    assert!((48..=52).contains(&part), "{part}: {}", slower.parts[1].detail);
    let faster = score(&two_days(1_000_000, 10_000), known("files"));
    assert_eq!(faster.parts[1].score, Some(100));
    let no_past = score(&two_days(1, 1)[50..], known("files"));
    assert_eq!(no_past.parts[1].score, None);
}

#[test]
fn every_part_counts_as_documented() {
    let mut items: Vec<_> =
        (0..80).map(|at| done(START + at, "files", JournalOutcome::Ok, 10)).collect();
    items.extend((0..10).map(|at| done(START + at, "files", JournalOutcome::ToolError, 10)));
    items.extend((0..5).map(|at| done(START + at, "files", JournalOutcome::Error, 10)));
    items.extend((0..5).map(|at| done(START + at, "files", JournalOutcome::TimedOut, 10)));
    // What was taken back says nothing.
    items.extend((0..100).map(|at| done(START + at, "files", JournalOutcome::Cancelled, 10)));
    items.push(drift(START, "files", "tool"));
    let standing = ServerDefinitionStatus {
        changed: 1,
        findings: [1, 1, 1],
        codes: ["overrides".into()].into(),
        ..known("files")
    };
    let score = score(&items, standing);
    // 80 + 10 / 2 of 100; no past; 5 of 100; 25 + 5; 2 + 10 + 30.
    assert_eq!(parts(&score), [Some(85), None, Some(50), Some(70), Some(58)]);
    // (85 * 40 + 50 * 15 + 70 * 15 + 58 * 10) / 80.
    assert_eq!(score.score, Some(72));
}

#[test]
fn the_documentation_has_the_weights() {
    let page = include_str!("../../../../../docs/reference/scores.md");
    let score = score(&[], known("files"));
    for part in &score.parts {
        let row = format!("| {} | {} |", part.name, part.weight);
        assert!(page.contains(&row), "docs/reference/scores.md lacks {row}");
    }
}

/// Returns a report of two eventful days, with names from a hostile server.
fn eventful() -> UsageReport {
    let mut collector = UsageCollector::default();
    for minute in 0..40 {
        let ms = START + minute * 60_000;
        for at in 0..minute % 7 {
            collector.add_entry(&decided(ms, Effect::Allow, "rule `mcp:files/*` (config.toml:3)"));
            collector.add_entry(&done(ms, "files", JournalOutcome::Ok, 900 + at * 400));
        }
        if minute % 5 == 0 {
            collector.add_entry(&decided(ms, Effect::Ask, "mode `ask`"));
            let (id, choice, by) = ("1".into(), "once".into(), "operator".into());
            let approved = EntryEvent::Approved { id, choice, by };
            collector.add_entry(&entry(ms, "files", "read", approved));
            collector.add_entry(&done(ms, "git", JournalOutcome::ToolError, 12_000));
        }
        if minute % 11 == 3 {
            collector.add_entry(&decided(ms, Effect::Deny, "<script>alert(1)</script>\u{202e}"));
            collector.add_entry(&done(ms, "git", JournalOutcome::TimedOut, 60_000_000));
        }
    }
    let ms = START + 100;
    let name = "a|b\"><img src=x onerror=alert(1)>";
    let error = done(ms, "evil", JournalOutcome::Error, 5);
    collector.add_entry(&JournalEntry { name: name.into(), ..error });
    collector.add_entry(&drift(ms, "evil", name));
    let evil = ServerDefinitionStatus {
        changed: 1,
        findings: [0, 1, 0],
        codes: ["overrides".into()].into(),
        ..known("evil")
    };
    collector.report(&[known("files"), known("quiet"), evil])
}

#[test]
fn the_page_and_the_markdown_are_as_expected() {
    let report = eventful();
    insta::assert_snapshot!("page", render_html(&report));
    insta::assert_snapshot!("markdown", render_markdown(&report));
    insta::assert_snapshot!("json", serde_json::to_string_pretty(&report).unwrap());
}

#[test]
fn the_page_of_nothing_says_so() {
    let page = render_html(&UsageCollector::default().report(&[]));
    assert!(page.contains("no records") && !page.contains("<svg"), "{page}");
}

#[test]
fn the_page_loads_and_runs_nothing() {
    let page = render_html(&eventful());
    assert!(page.contains("default-src 'none'"));
    for forbidden in ["<script", "<img", "<link", "http://", "https://", "url(", "javascript:"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert!(page.contains("⟦U+202E⟧"));
}

fn ended() -> impl Strategy<Value = JournalOutcome> {
    prop::sample::select(vec![
        JournalOutcome::Ok,
        JournalOutcome::ToolError,
        JournalOutcome::Error,
        JournalOutcome::TimedOut,
        JournalOutcome::Cancelled,
        JournalOutcome::Unknown,
    ])
}

proptest! {
    #[test]
    fn no_call_is_lost_and_every_score_is_in_bounds(
        calls in prop::collection::vec((0..400 * 24 * HOUR, 0..3_usize, ended(), any::<u64>()), 0..300),
        changed in 0..10_u64,
        findings in any::<[u8; 3]>(),
    ) {
        let servers = ["a", "b", "c"];
        let mut collector = UsageCollector::default();
        for (ms, server, ended, micros) in &calls {
            collector.add_entry(&done(*ms, servers[*server], *ended, *micros));
        }
        let findings = findings.map(u64::from);
        let standing = ServerDefinitionStatus { changed, findings, ..known("a") };
        for score in collector.scores(std::slice::from_ref(&standing)) {
            prop_assert!(score.score.is_none_or(|score| score <= 100));
        }
        let report = collector.report(&[standing]);
        let count = calls.len() as u64;
        prop_assert_eq!(report.totals.calls, count);
        prop_assert_eq!(report.slices.iter().map(|it| it.counts.calls).sum::<u64>(), count);
        prop_assert_eq!(report.servers.iter().map(|it| it.usage.counts.calls).sum::<u64>(), count);
        prop_assert!(report.slices.len() <= 96);
        render_html(&report);
        render_markdown(&report);
    }

    #[test]
    fn no_words_of_a_server_break_out_of_the_page(name in "(?s).{1,40}", because in any::<String>()) {
        let mut collector = UsageCollector::default();
        collector.add_entry(&entry(START, &name, &name, decision(Effect::Deny, &because)));
        let page = render_html(&collector.report(&[]));
        let plain = {
            let mut collector = UsageCollector::default();
            collector.add_entry(&entry(START, "x", "x", decision(Effect::Deny, "x")));
            render_html(&collector.report(&[]))
        };
        // As many marks as with harmless words.
        prop_assert_eq!(page.matches('<').count(), plain.matches('<').count());
        prop_assert!(!page.chars().any(|c| c != '\n' && toolgate_model::is_invisible(c)));
    }
}
