//! How well questions are answered from the local context, and how well those are refused that it
//! does not answer.
//!
//! The documents are the READMEs of the crates this project uses; the questions are ours
//! (`tests/context/answers.tsv`). A program of its own, so that tuning builds little:
//!
//! ```text
//! TOOLGATE_ANSWER_MISSES=1 cargo nextest run -p toolgate-e2e --test context_answers --no-capture
//! ```
//!
//! That shows the misses of the half to tune on; those of the other half only with
//! `TOOLGATE_ANSWER_HELD_OUT` as well, which whoever tunes leaves alone.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests: a broken expectation ends the test at once"
)]

use std::collections::HashSet;
use std::fmt;
use std::path::Path;

use tempfile::TempDir;
use toolgate_e2e::labelled_requests::DatasetHalf;
use toolgate_e2e::readmes::{CrateReadme, readmes};
use toolgate_extraction::{ExtractedAnswer, SourcePassage, ground_answer};
use toolgate_library::{
    DocumentOrigin, DocumentTrust, Library, NewDocument, PassageHit, SourceStamp,
};
use toolgate_model::Digest;
use toolgate_reading::{DocumentFormat, read, terms};

/// In how many passages an answer is looked for, as the tool does.
const PASSAGES: usize = 24;

/// The part of the answerable questions that must be answered from the right passage.
const ANSWERED: f64 = 0.8;

/// The part of the others that must be refused.
const REFUSED: f64 = 0.9;

/// A question with what answers it.
struct Question {
    text: String,
    /// Crates whose README answers it; none: nothing does.
    crates: Vec<String>,
    /// What stands in the passage that does.
    mark: String,
}

fn questions() -> Vec<Question> {
    let lines = include_str!("../context/answers.tsv").lines();
    let question = |line: &str| {
        let mut parts = line.split('\t').map(str::to_owned);
        let (text, crates) = (parts.next().unwrap(), parts.next().unwrap());
        let crates = crates.split(' ').filter(|name| *name != "-").map(str::to_owned).collect();
        Question { text, crates, mark: parts.next().unwrap() }
    };
    lines.filter(|line| !line.starts_with('#') && !line.is_empty()).map(question).collect()
}

async fn library(folder: &Path, documents: &[CrateReadme]) -> Library {
    let library = Library::open(folder.join("context.db")).await.unwrap();
    library.keep(documents.iter().map(fresh).collect()).await.unwrap();
    library
}

fn fresh(readme: &CrateReadme) -> NewDocument {
    let key = format!("/readmes/{}/README.md", readme.name);
    let digest = Digest::of(readme.text.as_bytes());
    let stamp = SourceStamp { digest, bytes: readme.text.len() as u64, modified: 0 };
    let document = read(DocumentFormat::Markdown, &key, &readme.text);
    let origin = DocumentOrigin::File { folder: "/readmes".into() };
    NewDocument { key, origin, stamp, trust: DocumentTrust::Untrusted, document }
}

fn name_of(hit: &PassageHit) -> &str {
    hit.key.split('/').nth(2).unwrap()
}

fn leaf(hit: &PassageHit) -> SourcePassage<'_> {
    let PassageHit { title, key, heading, text, score, .. } = hit;
    SourcePassage { title, path: key, heading, text, score: *score }
}

/// How a half went.
#[derive(Default)]
struct Figures {
    answerable: usize,
    /// The first sentence is of the right passage.
    right: usize,
    /// The sentences themselves say it.
    told: usize,
    unanswerable: usize,
    refused: usize,
}

impl Figures {
    fn add(&mut self, other: &Self) {
        self.answerable += other.answerable;
        self.right += other.right;
        self.told += other.told;
        self.unanswerable += other.unanswerable;
        self.refused += other.refused;
    }

    fn count(
        &mut self,
        question: &Question,
        hits: &[PassageHit],
        answer: &ExtractedAnswer,
    ) -> bool {
        let leaves: Vec<SourcePassage<'_>> = hits.iter().map(leaf).collect();
        for span in &answer.sentences {
            // Verbatim: the span is in the passage, whole characters, not blank.
            let words = hits[span.passage].text.get(span.start..span.end).unwrap();
            assert!(!words.trim().is_empty());
            assert_eq!(words, span.text_in(&leaves));
        }
        if question.crates.is_empty() {
            self.unanswerable += 1;
            let refused = answer.sentences.is_empty();
            self.refused += usize::from(refused);
            return refused;
        }
        self.answerable += 1;
        let right =
            answer.sentences.first().is_some_and(|span| is_right(question, &hits[span.passage]));
        self.right += usize::from(right);
        let told =
            answer.sentences.iter().any(|span| span.text_in(&leaves).contains(&question.mark));
        self.told += usize::from(right && told);
        right
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { answerable, right, told, unanswerable, refused } = self;
        write!(f, "answered {right}/{answerable} (told {told}), refused {refused}/{unanswerable}")
    }
}

fn is_right(question: &Question, hit: &PassageHit) -> bool {
    question.crates.iter().any(|name| name == name_of(hit)) && hit.text.contains(&question.mark)
}

fn print_miss(question: &Question, hits: &[PassageHit], answer: &ExtractedAnswer) {
    let leaves: Vec<SourcePassage<'_>> = hits.iter().map(leaf).collect();
    let place = hits.iter().position(|hit| is_right(question, hit));
    println!(
        "\n{}\n  the passage is found at {place:?}, missing {:?}",
        question.text, answer.missing
    );
    for span in &answer.sentences {
        println!(
            "  {} {:.2}: {:?}",
            name_of(&hits[span.passage]),
            answer.confidence,
            span.text_in(&leaves)
        );
    }
}

#[test]
fn what_the_store_says_is_answered_and_what_it_does_not_is_refused() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let folder = TempDir::new().unwrap();
        let library = library(folder.path(), &readmes().unwrap()).await;
        let asked = |variable: &str| std::env::var_os(variable).is_some();
        let mut all = Figures::default();
        for half in [DatasetHalf::Tuning, DatasetHalf::HeldOut] {
            let shown = asked("TOOLGATE_ANSWER_MISSES")
                && (half == DatasetHalf::Tuning || asked("TOOLGATE_ANSWER_HELD_OUT"));
            let mut figures = Figures::default();
            for question in questions().iter().filter(|it| DatasetHalf::of(&it.text) == half) {
                let hits = library.search(&question.text, PASSAGES).await.unwrap();
                let leaves: Vec<SourcePassage<'_>> = hits.iter().map(leaf).collect();
                let shares =
                    library.term_shares(&terms::query_term_strings(&question.text)).await.unwrap();
                let answer =
                    ground_answer(&question.text, &leaves, &|term| shares.get(term).copied());
                if !figures.count(question, &hits, &answer) && shown {
                    print_miss(question, &hits, &answer);
                }
            }
            println!("{:9} {figures}", half.name());
            all.add(&figures);
        }
        println!("{:9} {all}", "all");
        let Figures { answerable, right, unanswerable, refused, .. } = all;
        assert!(right as f64 >= ANSWERED * answerable as f64, "{right} of {answerable}");
        assert!(refused as f64 >= REFUSED * unanswerable as f64, "{refused} of {unanswerable}");
        library.close().await;
    });
}

#[test]
fn the_set_is_large_enough_and_means_what_it_says() {
    let (documents, questions) = (readmes().unwrap(), questions());
    let (answerable, others): (Vec<_>, Vec<_>) =
        questions.iter().partition(|question| !question.crates.is_empty());
    assert!(answerable.len() >= 40 && others.len() >= 20);
    for question in answerable {
        for name in &question.crates {
            let readme = documents.iter().find(|readme| readme.name == *name).expect(name);
            assert!(readme.text.contains(&question.mark), "{}: {name}", question.text);
        }
    }
    // What is not answered shares two words with content with some document all the same.
    let known: Vec<HashSet<String>> = documents.iter().map(|readme| words(&readme.text)).collect();
    for question in others {
        let asked = words(&question.text);
        let shared = known.iter().map(|known| known.intersection(&asked).count()).max();
        assert!(shared >= Some(2), "{}: {shared:?}", question.text);
    }
}

/// The words of a text that say what it is about.
fn words(text: &str) -> HashSet<String> {
    let small = text.to_lowercase();
    let list = small.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2);
    list.filter(|word| !terms::is_stop(word)).map(str::to_owned).collect()
}
