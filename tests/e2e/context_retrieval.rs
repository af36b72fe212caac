//! How well the local context finds documents for questions in a person's words, beside a bare
//! FTS5 table with stemming over the same text.
//!
//! The documents are the READMEs of the crates this project uses; the questions and what answers
//! them are ours (`tests/context/queries.json`; 2: what was asked for, 1: related). A program of its
//! own, so that tuning builds little:
//!
//! ```text
//! cargo nextest run -p toolgate-e2e --test context_retrieval --no-capture
//! ```
//!
//! Half of the questions are only measured; misses are printed of the other half alone.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests: a broken expectation ends the test at once"
)]

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::Deserialize;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use sqlx::{AssertSqlSafe, Row as _};
use tempfile::TempDir;
use toolgate_e2e::labelled_requests::DatasetHalf;
use toolgate_e2e::readmes::{CrateReadme, readmes};
use toolgate_library::{DocumentOrigin, DocumentTrust, Library, NewDocument, SourceStamp};
use toolgate_model::Digest;
use toolgate_reading::{DocumentFormat, read};

/// How many documents count.
const DEPTH: usize = 10;

/// How many passages are asked for: several may be of one document.
const PASSAGES: usize = 50;

#[derive(Debug, Deserialize)]
struct Asked {
    query: String,
    relevant: BTreeMap<String, u32>,
}

fn asked() -> Vec<Asked> {
    serde_json::from_str(include_str!("../context/queries.json")).unwrap()
}

/// nDCG at ten: gains 2^grade - 1, against the best order there is.
fn ndcg(found: &[String], relevant: &BTreeMap<String, u32>) -> f64 {
    let gain = |grade: u32| f64::from(2_u32.pow(grade) - 1);
    let discounted = |grades: &mut dyn Iterator<Item = u32>| -> f64 {
        grades
            .take(DEPTH)
            .zip(2_u32..)
            .map(|(grade, rank)| gain(grade) / f64::from(rank).log2())
            .sum()
    };
    let mut ideal: Vec<u32> = relevant.values().copied().collect();
    ideal.sort_unstable_by(|one, other| other.cmp(one));
    let got = found.iter().map(|name| relevant.get(name).copied().unwrap_or(0));
    discounted(&mut { got }) / discounted(&mut ideal.into_iter())
}

/// The same documents in our library and in a bare table.
struct Shelves {
    library: Library,
    bare: SqlitePool,
    _folder: TempDir,
}

impl Shelves {
    async fn with(documents: &[CrateReadme]) -> Self {
        let folder = TempDir::new().unwrap();
        let library = Library::open(folder.path().join("context.db")).await.unwrap();
        library.keep(documents.iter().map(fresh).collect()).await.unwrap();
        // In memory, which ends with its connection.
        let options = SqliteConnectOptions::new().in_memory(true);
        let one = SqlitePoolOptions::new().max_connections(1).idle_timeout(None);
        let bare = one.connect_with(options).await.unwrap();
        sqlx::query("create virtual table t using fts5(name unindexed, text, tokenize = 'porter unicode61')")
            .execute(&bare)
            .await
            .unwrap();
        for CrateReadme { name, text } in documents {
            let insert = sqlx::query("insert into t values ($1, $2)").bind(name).bind(text);
            insert.execute(&bare).await.unwrap();
        }
        Self { library, bare, _folder: folder }
    }

    /// The documents of the best passages, each once.
    async fn ours(&self, query: &str) -> Vec<String> {
        let hits = self.library.search(query, PASSAGES).await.unwrap();
        let mut seen = HashSet::new();
        let names = hits.into_iter().map(|hit| name_of(&hit.key));
        names.filter(|name| seen.insert(name.clone())).take(DEPTH).collect()
    }

    /// Any of the words, ranked by `bm25()`.
    async fn bare(&self, query: &str) -> Vec<String> {
        let words = query.split(|letter: char| !letter.is_alphanumeric());
        let words: Vec<_> =
            words.filter(|word| !word.is_empty()).map(|it| format!("\"{it}\"")).collect();
        let sql = format!("select name from t where t match $1 order by bm25(t) limit {DEPTH}");
        let rows =
            sqlx::query(AssertSqlSafe(sql)).bind(words.join(" OR ")).fetch_all(&self.bare).await;
        rows.unwrap().iter().map(|row| row.get::<String, _>(0)).collect()
    }
}

fn fresh(readme: &CrateReadme) -> NewDocument {
    let key = format!("/readmes/{}/README.md", readme.name);
    let stamp = SourceStamp {
        digest: Digest::of(readme.text.as_bytes()),
        bytes: readme.text.len() as u64,
        modified: 0,
    };
    let document = read(DocumentFormat::Markdown, &key, &readme.text);
    let origin = DocumentOrigin::File { folder: "/readmes".into() };
    NewDocument { key, origin, stamp, trust: DocumentTrust::Untrusted, document }
}

fn name_of(key: &str) -> String {
    key.split('/').nth(2).unwrap().to_owned()
}

#[test]
fn the_set_is_large_enough_and_names_documents_there_are() {
    let (documents, asked) = (readmes().unwrap(), asked());
    assert!(documents.len() >= 200, "{} documents", documents.len());
    assert!(asked.len() >= 60, "{} questions", asked.len());
    let known: BTreeSet<_> = documents.iter().map(|readme| readme.name.as_str()).collect();
    for Asked { query, relevant } in &asked {
        assert!(relevant.values().any(|grade| *grade == 2), "{query}");
        for name in relevant.keys() {
            assert!(known.contains(name.as_str()), "{query}: there is no {name}");
        }
    }
}

#[tokio::test]
async fn documents_are_found_at_least_as_well_as_by_bare_fts5() {
    let shelves = Shelves::with(&readmes().unwrap()).await;
    let mut sums: BTreeMap<&str, (f64, f64, f64)> = BTreeMap::new();
    for Asked { query, relevant } in asked() {
        let (ours, bare) = (shelves.ours(&query).await, shelves.bare(&query).await);
        let (mine, theirs) = (ndcg(&ours, &relevant), ndcg(&bare, &relevant));
        let half = DatasetHalf::of(&query);
        for key in ["all", half.name()] {
            let sum = sums.entry(key).or_default();
            *sum = (sum.0 + mine, sum.1 + theirs, sum.2 + 1.0);
        }
        if half == DatasetHalf::Tuning && mine < 0.7 {
            println!("{mine:.2} ({theirs:.2}) {query}\n    {}", ours.join(" "));
        }
    }
    println!("\nnDCG@10      ours   bare FTS5   questions");
    for (name, (mine, theirs, count)) in &sums {
        println!("{name:10} {:>6.3}      {:>6.3}      {count:>6}", mine / count, theirs / count);
    }
    for (name, (mine, theirs, _)) in sums {
        assert!(mine >= theirs, "{name}: {mine} against {theirs}");
    }
}
