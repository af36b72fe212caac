//! Answers, refusals to answer, and packing, on texts of our own.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, reason = "tests")]

use toolgate_extraction::{PassageSpan, SourcePassage, ground_answer, pack};

fn answer(question: &str, passages: &[SourcePassage<'_>]) -> Vec<PassageSpan> {
    ground_answer(question, passages, &|_| None).sentences
}

const HANDBOOK: &[(&str, &str)] = &[
    (
        "Travel",
        "Trips are booked by the office. A hotel may cost at most 140 euros a night. Trains are \
         preferred to planes below 600 kilometres. Receipts are handed in within 30 days.",
    ),
    (
        "Leave",
        "Everybody has 28 days of leave a year. Days that are left expire on 31 March of the next \
         year. Maria Lindqvist approves requests in the sales team.",
    ),
    (
        "Backups",
        "The database is saved every night to a second site:\n\n```sh\nbackupctl run --target site2\n```\n\n\
         We chose PostgreSQL because the team knew it. The old site was closed in May 2024.",
    ),
    (
        "FAQ",
        "### Can I work from abroad?\n\nYes, for up to 20 days a year, after asking your lead.",
    ),
];

fn leaves() -> Vec<SourcePassage<'static>> {
    let leaf = |(heading, text): &(&'static str, &'static str)| SourcePassage {
        title: "Staff handbook",
        path: "",
        heading,
        text,
        score: 1.0,
    };
    HANDBOOK.iter().map(leaf).collect()
}

/// The first sentence that answers.
fn first(question: &str) -> &'static str {
    let leaves = leaves();
    answer(question, &leaves).first().map_or("", |span| span.text_in(&leaves))
}

#[test]
fn a_question_is_answered_by_the_sentence_that_says_it() {
    assert!(first("How much may a hotel cost per night?").contains("140 euros"));
    assert!(first("How many days of leave do I have a year?").contains("28 days"));
    assert!(first("When do days of leave that are left expire?").contains("31 March"));
    assert!(first("Who approves requests in the sales team?").contains("Maria Lindqvist"));
    assert!(first("Why did we choose PostgreSQL?").contains("because the team knew it"));
    assert!(first("When was the old site closed?").contains("May 2024"));
    assert!(first("Can I work from abroad?").contains("20 days"));
}

#[test]
fn a_sentence_comes_with_the_code_it_announces() {
    let leaves = leaves();
    let spans = answer("How is the database saved to a second site?", &leaves);
    assert!(spans[0].text_in(&leaves).contains("every night"));
    assert!(spans[1].text_in(&leaves).contains("backupctl run"));
}

#[test]
fn what_only_shares_words_is_refused() {
    for question in [
        "How much may a rental car cost per night?",
        "How many days of parental leave do I have a year?",
        "Who approves requests in the marketing team?",
        "When was the database upgraded?",
        "Which hotel in Lisbon do we book?",
        "Why did we choose MongoDB for the database?",
        "How is the database encrypted at the second site?",
        "Does the office pay for planes in first class?",
        "What is the phone number of the sales team?",
        "How many employees work from abroad?",
    ] {
        assert_eq!(first(question), "", "{question}");
    }
}

#[test]
fn a_refusal_says_what_was_missing() {
    let refused = ground_answer("Which hotel in Lisbon do we book?", &leaves(), &|_| None);
    assert!(refused.sentences.is_empty() && refused.confidence == 0.0);
    assert!(refused.missing.iter().any(|word| word == "Lisbon"), "{:?}", refused.missing);
    assert!(answer("", &leaves()).is_empty());
    assert!(answer("what is it?", &leaves()).is_empty());
    assert!(answer("How much may a hotel cost?", &[]).is_empty());
}

#[test]
fn a_pack_takes_the_best_that_fit_and_nothing_again() {
    let texts = [
        ("The cache is cleared at night by a job on the build host.", 3.0),
        ("At night the cache is cleared, by a job on the build host.", 2.9),
        ("The cache keeps compiled objects for all branches and is shared by every runner.", 2.0),
        ("Lunch is at noon.", 0.1),
    ];
    let leaves: Vec<SourcePassage<'_>> = texts
        .iter()
        .map(|(text, score)| SourcePassage {
            title: "",
            path: "",
            heading: "",
            text,
            score: *score,
        })
        .collect();
    let tokens = |text: &str| text.split_whitespace().count();
    assert_eq!(pack("how is the cache cleared", &leaves, 100, &tokens), [0, 2, 3]);
    assert_eq!(pack("how is the cache cleared", &leaves, 14, &tokens), [0]);
    assert!(pack("how is the cache cleared", &leaves, 3, &tokens).is_empty());
}
