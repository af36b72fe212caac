//! Compares what is extracted from notes, minutes and transcripts with what a person finds.
//!
//! Each text under `tests/notes` has a file of expectations: kind, a few words of the sentence, and
//! its details. Precision and recall are computed over all of them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, reason = "tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use toolgate_extraction::{
    ExtractedDecisionStatus, OpenLoopKind, PassageSpan, SourcePassage, extract_decisions,
    extract_meeting, extract_open_loops,
};

/// Something found or expected: its kind, its words, and what is stated with it.
#[derive(Debug, Clone)]
struct Find {
    kind: &'static str,
    words: String,
    stated: Vec<String>,
}

fn leaf(text: &str) -> SourcePassage<'_> {
    SourcePassage { title: "", path: "", heading: "", text, score: 1.0 }
}

fn words(text: &str, span: Option<PassageSpan>) -> String {
    span.map(|span| text[span.start..span.end].to_owned()).unwrap_or_default()
}

/// Everything gleaned from a text; what a meeting is only where its expectations have one.
fn found(text: &str, is_meeting: bool) -> Vec<Find> {
    let mut finds = Vec::new();
    let find =
        |kind, span: PassageSpan, stated| Find { kind, words: words(text, Some(span)), stated };
    for open in extract_open_loops(&[leaf(text)]) {
        let kind = match open.kind {
            OpenLoopKind::Task => "task",
            OpenLoopKind::Question => "question",
            OpenLoopKind::Promise => "promise",
        };
        let stated =
            vec![words(text, open.owner), words(text, open.due), open.date.unwrap_or_default()];
        finds.push(find(kind, open.span, stated));
    }
    for decision in extract_decisions(&[leaf(text)]) {
        let people: Vec<String> =
            decision.people.iter().map(|span| words(text, Some(*span))).collect();
        let standing = match decision.status {
            ExtractedDecisionStatus::Accepted => "",
            ExtractedDecisionStatus::Rejected => "rejected",
            ExtractedDecisionStatus::Superseded => "superseded",
        };
        let day = decision.day.unwrap_or_default();
        let stated = vec![words(text, decision.reason), day, people.join(","), standing.to_owned()];
        finds.push(find("decision", decision.span, stated));
    }
    if is_meeting {
        let meeting = extract_meeting(text);
        finds.extend(meeting.attendees.iter().map(|span| find("attendee", *span, Vec::new())));
        finds.extend(meeting.topics.iter().map(|span| find("topic", *span, Vec::new())));
        for action in meeting.actions {
            finds.push(find("action", action.span, vec![words(text, action.owner)]));
        }
    }
    finds
}

fn expected(path: &Path) -> Vec<Find> {
    let kinds = ["task", "question", "promise", "decision", "attendee", "topic", "action"];
    let text = fs::read_to_string(path).unwrap();
    let find = |line: &str| {
        let mut parts = line.split('|').map(str::to_owned);
        let kind = parts.next().unwrap();
        let kind = kinds.into_iter().find(|known| *known == kind).expect(line);
        Find { kind, words: parts.next().unwrap(), stated: parts.collect() }
    };
    text.lines().filter(|line| !line.is_empty()).map(find).collect()
}

fn notes() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/notes");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_none_or(|ending| ending != "expected"));
    paths.sort();
    paths
}

#[derive(Default)]
struct Figures {
    right: usize,
    found: usize,
    wanted: usize,
    stated: usize,
    stated_right: usize,
}

#[test]
fn what_a_person_finds_in_notes_is_gleaned_and_little_else() {
    let mut figures: BTreeMap<&str, Figures> = BTreeMap::new();
    for path in notes() {
        let text = fs::read_to_string(&path).unwrap();
        let wanted = expected(&path.with_extension("expected"));
        let is_meeting = wanted.iter().any(|find| find.kind == "attendee");
        let mut left = found(&text, is_meeting);
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for find in &left {
            figures.entry(find.kind).or_default().found += 1;
        }
        for want in wanted {
            let figure = figures.entry(want.kind).or_default();
            figure.wanted += 1;
            let place = left
                .iter()
                .position(|find| find.kind == want.kind && find.words.contains(&want.words));
            let Some(find) = place.map(|place| left.remove(place)) else {
                println!("{name}: missed {} {:?}", want.kind, want.words);
                continue;
            };
            figure.right += 1;
            for (nth, stated) in
                want.stated.iter().enumerate().filter(|(_, stated)| !stated.is_empty())
            {
                let has = find.stated.get(nth).map_or("", String::as_str);
                figure.stated += 1;
                if has.starts_with(stated.as_str()) {
                    figure.stated_right += 1;
                } else {
                    println!(
                        "{name}: {} {:?} states {has:?}, not {stated:?}",
                        find.kind, find.words
                    );
                }
            }
        }
        for find in left {
            println!("{name}: not expected: {} {:?} {:?}", find.kind, find.words, find.stated);
        }
    }
    println!("kind       precision  recall  with what is stated");
    let (mut right, mut found, mut wanted) = (0, 0, 0);
    for (kind, f) in &figures {
        println!(
            "{kind:10} {:4}/{:<4}  {:4}/{:<4} {:4}/{:<4}",
            f.right, f.found, f.right, f.wanted, f.stated_right, f.stated
        );
        right += f.right;
        found += f.found;
        wanted += f.wanted;
    }
    let (precision, recall) = (right as f64 / found as f64, right as f64 / wanted as f64);
    println!("all: precision {precision:.3}, recall {recall:.3}");
    assert!(precision >= 0.9 && recall >= 0.9, "{precision} {recall}");
}
