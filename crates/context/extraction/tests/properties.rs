//! Properties of every text: spans are valid, nothing panics, and the work grows linearly.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, reason = "tests")]

use std::time::Duration;

use proptest::prelude::*;
use rustix::time::{ClockId, clock_gettime};
use toolgate_extraction::{
    PassageSpan, SourcePassage, extract_decisions, extract_meeting, extract_open_loops,
    ground_answer, pack, sentences,
};

/// A tenth of the counts in the normal run.
fn cases(whole: u32) -> ProptestConfig {
    let soak = std::env::var_os("TOOLGATE_SOAK").is_some();
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(if soak { whole } else { whole / 10 })
    }
}

/// Pieces notes are made of, so that texts look like notes more often than letters do.
const PIECES: &[&str] = &[
    "# Decisions\n",
    "## Action items\n",
    "- [ ] ",
    "- [x] ",
    "* ",
    "1. ",
    "| Action | Owner | Due |\n|---|---|---|\n",
    "| write | Anna | Friday |\n",
    "TODO: ",
    "TODO(bob): ",
    "FIXME",
    "Anna: ",
    "[00:01] Bob: ",
    "Anna to review ",
    "We decided to ",
    "because ",
    "Reason: ",
    "Status: accepted\n",
    "by 2026-11-20",
    "until Friday",
    "(Bob, by 3 May 2026)",
    "@carl ",
    "Who pays? ",
    "I'll send it ",
    "Attendees: ",
    "Anna and Bob",
    ", ",
    "é",
    "ß",
    "日本語。",
    "`code. X` ",
    "```\n",
    "~~",
    "\n",
    "\n\n",
    " ",
    ". ",
    "? ",
    "! ",
    "WEBVTT\n\n",
    "00:00:01.000 --> 00:00:02.000\n",
    "<v Zoë>",
    "Besprechung: ",
    "weil ",
    "Next topic: ",
    "Helen Brooks   0:03\n",
    "==\n",
    "---\n",
    "> ",
    "İ",
    "\u{feff}",
    "‘",
    "•",
    "  ",
    "\t",
    "2026-13-45",
    "20/11/2026",
    "März 2026",
    "end of the month",
    "Reason:",
    "(",
    ")",
    "[",
    "]",
    "|",
    ":",
    "：",
    "Why?",
    "- ",
    "Dr. ",
    "3. ",
    "From Anna to Everyone: ",
];

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => proptest::sample::select(PIECES).prop_map(str::to_owned),
        1 => "\\PC{0,12}",
        2 => "[A-Za-z ,.]{0,20}",
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn check(span: PassageSpan, texts: &[&str]) -> Result<(), TestCaseError> {
    let text = texts.get(span.passage).copied();
    let words = text.and_then(|text| text.get(span.start..span.end));
    prop_assert!(words.is_some_and(|words| !words.trim().is_empty()), "{span:?}");
    Ok(())
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn every_sentence_is_a_span_in_order_and_not_blank(text in text()) {
        let mut end = 0;
        for range in sentences(&text) {
            prop_assert!(range.start >= end && range.end > range.start);
            let words = text.get(range.clone());
            prop_assert!(words.is_some_and(|words| words == words.trim() && !words.is_empty()));
            end = range.end;
        }
    }

    #[test]
    fn whatever_is_gleaned_is_a_span_of_its_passage(texts in proptest::collection::vec(text(), 0..4), title in text()) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let leaves: Vec<SourcePassage<'_>> =
            texts.iter().map(|text| SourcePassage { title: &title, path: "", heading: &title, text, score: 1.0 }).collect();
        for open in extract_open_loops(&leaves) {
            check(open.span, &texts)?;
            for span in [open.owner, open.due].into_iter().flatten() {
                check(span, &texts)?;
                prop_assert_eq!(span.passage, open.span.passage);
            }
        }
        for decision in extract_decisions(&leaves) {
            check(decision.span, &texts)?;
            for span in decision.reason.into_iter().chain(decision.date).chain(decision.people) {
                check(span, &texts)?;
            }
        }
        for text in &texts {
            let meeting = extract_meeting(text);
            let actions = meeting.actions.iter().flat_map(|action| [Some(action.span), action.owner, action.due]);
            for span in meeting.attendees.iter().chain(&meeting.topics).copied().chain(actions.flatten()) {
                check(span, &[text])?;
            }
        }
    }

    #[test]
    fn an_answer_is_whole_sentences_of_the_passages(texts in proptest::collection::vec(text(), 0..4), question in text()) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let leaves: Vec<SourcePassage<'_>> =
            texts.iter().map(|text| SourcePassage { title: "Notes", path: "", heading: "", text, score: 1.0 }).collect();
        let answer = ground_answer(&question, &leaves, &|_| None);
        prop_assert!((0.0..=1.0).contains(&answer.confidence));
        for span in answer.sentences {
            check(span, &texts)?;
            let whole = sentences(texts[span.passage]);
            prop_assert!(whole.contains(&(span.start..span.end)));
        }
    }

    #[test]
    fn a_pack_keeps_its_budget_and_takes_nothing_twice(
        texts in proptest::collection::vec(text(), 0..12), task in text(), budget in 0_usize..400,
    ) {
        let leaves: Vec<SourcePassage<'_>> = texts
            .iter()
            .zip(1_u32..)
            .map(|(text, place)| SourcePassage { title: "", path: "", heading: "", text, score: 1.0 / f64::from(place) })
            .collect();
        let tokens = |text: &str| text.len() / 4 + 1;
        let taken = pack(&task, &leaves, budget, &tokens);
        let cost: usize = taken.iter().map(|place| tokens(leaves[*place].text)).sum();
        prop_assert!(cost <= budget);
        let mut once: Vec<&str> = taken.iter().map(|place| leaves[*place].text).collect();
        once.sort_unstable();
        let all = once.len();
        once.dedup();
        prop_assert_eq!(once.len(), all);
    }
}

/// How often work is measured before it counts as too much.
const MEASUREMENTS: usize = 20;

/// How long this thread works to find everything in a text. Time in which others have the processor
/// does not count.
fn work(text: &str) -> Duration {
    let leaves = [SourcePassage { title: text, path: "", heading: text, text, score: 1.0 }];
    let start = worked();
    let found = sentences(text).len()
        + extract_open_loops(&leaves).len()
        + extract_decisions(&leaves).len()
        + extract_meeting(text).topics.len()
        + ground_answer("Which port does Anna use by 2026-11-20?", &leaves, &|_| None)
            .sentences
            .len();
    assert!(found < usize::MAX);
    worked() - start
}

fn worked() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap()
}

#[test]
fn work_grows_with_the_text_and_not_with_its_square() {
    let units = [
        ". ",
        "!?",
        "`",
        "``` ",
        "a ",
        "A. ",
        "1. ",
        "- [ ] a\n",
        "(",
        "@",
        "@a ",
        "Anna and ",
        " and ",
        "Anna: x?\n",
        "x?\n\n",
        "|a|b|\n",
        "# D\n",
        "Decision: a. ",
        "we decided ",
        "2026-",
        "1/",
        "I'll ",
        "-> ",
        "\n",
        "日。",
        "~~~\n",
        "[[",
        "İ",
        "<v ",
        "TODO ",
        "because ",
        "- Anna (",
        "Status: x\n",
        "word",
        "\u{a0}",
        "a.b.",
        "next topic ",
        "May 3 ",
        "Anna   0:01\n",
        "> ",
        "\t",
    ];
    for unit in units {
        let small = unit.repeat(8_000 / unit.len());
        let large = small.repeat(8);
        // Eight times the text: linear is eight times the work, the square is sixty-four. The least
        // of many measurements counts, as caches are shared with others.
        let (mut once, mut eight) = (Duration::MAX, Duration::MAX);
        let grows_slowly = (0..MEASUREMENTS).any(|_| {
            once = once.min(work(&small)).max(Duration::from_millis(1));
            eight = eight.min(work(&large));
            eight < once * 32
        });
        assert!(grows_slowly, "{unit:?}: {once:?} became {eight:?}");
    }
}
