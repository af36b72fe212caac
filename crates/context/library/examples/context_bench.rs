//! The parts of `cargo xtask bench-context` that need the library or a bare FTS5 table. Each runs
//! in its own process, so that its CPU time can be measured.
//!
//! The texts are generated: the n-th word of the vocabulary has a frequency proportional to 1/n, as
//! in real texts, and every run generates the same texts. The bare table is the lower bound: it has
//! one row per file and the built-in stemmer, and is filled in one transaction. The program prints
//! its measurements as JSON.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};
use sqlx::{Connection as _, SqliteConnection};
use toolgate_library::{
    DocumentOrigin, DocumentTrust, Library, NewDocument, PreparedDocument, SourceStamp,
};
use toolgate_model::Digest;
use toolgate_reading::terms::TermIndexer;
use toolgate_reading::{ParsedDocument, Passage, PassageLocation};

/// The result of one benchmark.
type Outcome = Result<(), Box<dyn Error>>;

const USAGE: &str = "context_bench make FOLDER FILES BYTES | bare-ingest FOLDER DATABASE | \
     bare-search DATABASE any|all | search DATABASE | fill DATABASE PASSAGES";

/// The number of different queries, and how often all of them run.
const QUERIES: usize = 200;
const ROUNDS: usize = 3;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["make", folder, files, bytes] => make(Path::new(folder), files.parse()?, bytes.parse()?),
        ["bare-ingest", folder, database] => bare_ingest(Path::new(folder), database).await,
        ["bare-search", database, how] => bare_search(database, how).await,
        ["search", database] => search(database).await,
        ["fill", database, passages] => fill(database, passages.parse()?).await,
        _ => Err(USAGE.into()),
    }
}

/// A deterministic pseudo-random number generator.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap_or_default()
    }

    /// Returns a number below `end`. Smaller numbers are proportionally more likely.
    fn skewed(&mut self, end: usize) -> usize {
        let part = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        ((end as f64).powf(part) - 1.0) as usize
    }
}

/// The size of the vocabulary.
const VOCABULARY: usize = 60_000;

/// The most common words. The others are made of syllables.
const COMMON: &str = "the of and to in is that for it with as was on be at by this from are or \
     have an they which one had not but what all were when we there can your said";

fn word(number: usize) -> String {
    if let Some(word) = COMMON.split_whitespace().nth(number) {
        return word.to_owned();
    }
    let (onsets, vowels) = (b"bdfgklmnprstvz", b"aeiou");
    let (mut rest, mut word) = (number, String::new());
    while rest > 0 || word.len() < 4 {
        word.push(onsets[rest % onsets.len()].into());
        rest /= onsets.len();
        word.push(vowels[rest % vowels.len()].into());
        rest /= vowels.len();
    }
    word
}

fn sentence(chance: &mut Chance, words: usize, text: &mut String) {
    for place in 0..words {
        let word = word(chance.skewed(VOCABULARY));
        let gap = if place == 0 { "" } else { " " };
        let _ = write!(text, "{gap}{word}");
    }
    text.push_str(". ");
}

fn make(folder: &Path, files: usize, bytes: usize) -> Outcome {
    for file in 0..files {
        let mut chance = Chance(file as u64 + 1);
        let mut text = String::from("# ");
        sentence(&mut chance, 5, &mut text);
        while text.len() < bytes / files {
            text.push_str("\n\n## ");
            sentence(&mut chance, 4, &mut text);
            for _ in 0..3 {
                text.push_str("\n\n");
                for _ in 0..6 {
                    let words = 8 + chance.below(12);
                    sentence(&mut chance, words, &mut text);
                }
            }
        }
        let place = folder.join(format!("{:02}", file % 100));
        fs::create_dir_all(&place)?;
        fs::write(place.join(format!("{file:05}.md")), text)?;
    }
    Ok(())
}

/// Returns queries of two to eight words: common words, and rarer ones that select documents.
fn queries() -> Vec<Vec<String>> {
    let mut chance = Chance(0);
    let mut query = || {
        let words = 2 + chance.below(7);
        (0..words).map(|_| word(chance.skewed(VOCABULARY))).collect()
    };
    (0..QUERIES).map(|_| query()).collect()
}

async fn bare(database: &str) -> Result<SqliteConnection, sqlx::Error> {
    let options = SqliteConnectOptions::new().filename(database).create_if_missing(true);
    SqliteConnection::connect_with(&options.journal_mode(SqliteJournalMode::Wal)).await
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { found.extend(files(&path)?) } else { found.push(path) }
    }
    found.sort();
    Ok(found)
}

async fn bare_ingest(folder: &Path, database: &str) -> Outcome {
    let (files, begun, cpu) = (files(folder)?, Instant::now(), cpu());
    let mut connection = bare(database).await?;
    let create = "create virtual table bare using fts5 (path, body, tokenize = 'porter unicode61')";
    sqlx::query(create).execute(&mut connection).await?;
    let mut transaction = connection.begin().await?;
    let mut bytes = 0;
    for file in files {
        let text = fs::read_to_string(&file)?;
        bytes += text.len();
        let insert = sqlx::query("insert into bare (path, body) values ($1, $2)");
        let insert = insert.bind(file.display().to_string()).bind(text);
        insert.execute(&mut *transaction).await?;
    }
    transaction.commit().await?;
    connection.close().await?;
    let wall = begun.elapsed().as_secs_f64();
    println!("{}", json!({ "bytes": bytes, "wall": wall, "cpu": self::cpu() - cpu }));
    Ok(())
}

async fn bare_search(database: &str, how: &str) -> Outcome {
    let mut connection = bare(database).await?;
    let between = if how == "any" { " OR " } else { " " };
    let mut spent = Spent::default();
    for query in (0..ROUNDS).flat_map(|_| queries()) {
        let quoted: Vec<String> = query.iter().map(|word| format!("\"{word}\"")).collect();
        let begun = cpu();
        let sql = "select path, body, bm25(bare) from bare where bare match $1 \
             order by bm25(bare) limit 10";
        let rows = sqlx::query(sql).bind(quoted.join(between)).fetch_all(&mut connection).await?;
        spent.add(cpu() - begun, rows.len());
    }
    spent.print();
    Ok(())
}

async fn search(database: &str) -> Outcome {
    let library = Library::open(database).await?;
    let mut spent = Spent::default();
    for query in (0..ROUNDS).flat_map(|_| queries()) {
        let begun = cpu();
        let hits = library.search(&query.join(" "), 10).await?;
        spent.add(cpu() - begun, hits.len());
    }
    spent.print();
    library.close().await;
    Ok(())
}

/// Fills a library with this many passages, ten per document.
async fn fill(database: &str, passages: usize) -> Outcome {
    let library = Library::open(database).await?;
    let (mut indexer, mut batch, mut size) = (TermIndexer::new(), Vec::new(), 0);
    let begun = Instant::now();
    for document in 0..passages / 10 {
        let prepared = PreparedDocument::new(document_of_ten(document), &mut indexer);
        size += prepared.text_bytes();
        batch.push(prepared);
        if size > 4 << 20 {
            library.keep_prepared(std::mem::take(&mut batch)).await?;
            size = 0;
        }
    }
    library.keep_prepared(batch).await?;
    while library.tidy().await? {}
    let status = library.status().await?;
    library.close().await;
    let wall = begun.elapsed().as_secs_f64();
    println!("{}", json!({ "passages": status.passages, "size": status.size, "wall": wall }));
    Ok(())
}

fn document_of_ten(number: usize) -> NewDocument {
    let mut chance = Chance(number as u64 + 1);
    let mut text_of = |sentences: usize| {
        let mut text = String::new();
        for _ in 0..sentences {
            let words = 8 + chance.below(12);
            sentence(&mut chance, words, &mut text);
        }
        text
    };
    let title = text_of(1);
    let passage = |line: u32| Passage {
        heading: title.clone(),
        text: text_of(6),
        place: PassageLocation::Lines(line, line),
    };
    let passages = (1..=10).map(passage).collect();
    NewDocument {
        key: format!("/made/{number}.md"),
        origin: DocumentOrigin::File { folder: "/made".to_owned() },
        stamp: SourceStamp { digest: Digest::of(title.as_bytes()), bytes: 0, modified: 0 },
        trust: DocumentTrust::Untrusted,
        document: ParsedDocument { title: title.clone(), passages, truncation: None },
    }
}

/// Measures the time of searches.
#[derive(Default)]
struct Spent {
    seconds: Vec<f64>,
    hits: usize,
}

impl Spent {
    fn add(&mut self, seconds: f64, hits: usize) {
        self.seconds.push(seconds);
        self.hits += hits;
    }

    fn print(mut self) {
        self.seconds.sort_by(f64::total_cmp);
        let at = |part: f64| self.seconds[(self.seconds.len() as f64 * part) as usize] * 1000.0;
        let mean = self.seconds.iter().sum::<f64>() / self.seconds.len() as f64 * 1000.0;
        let (p50, p90, p99) = (at(0.5), at(0.9), at(0.99));
        let hits = self.hits;
        println!("{}", json!({ "mean": mean, "p50": p50, "p90": p90, "p99": p99, "hits": hits }));
    }
}

/// Returns the CPU time of all threads of this process, in seconds.
fn cpu() -> f64 {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9
}
