//! Measures the ranking of the local context on a labelled collection: nDCG@10 over documents.
//!
//! `cargo run --release -p toolgate-library --example context_ranking -- FOLDER…`, each folder with
//! `docs.tsv` (id, title, text), `queries.tsv` (id, text) and `qrels.tsv` (query, document, grade).
//! The project contains no collections; provide your own. The program only prints the measurements.

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::path::Path;

use toolgate_library::{DocumentOrigin, DocumentTrust, Library, NewDocument, SourceStamp};
use toolgate_model::Digest;
use toolgate_reading::{DocumentFormat, read};

type Grades = HashMap<String, HashMap<String, f64>>;

/// The number of requested passages: enough for ten documents with several passages each.
const ASKED: usize = 50;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    for folder in std::env::args().skip(1) {
        let folder = Path::new(&folder);
        let scratch = tempfile::tempdir()?;
        let library = Library::open(scratch.path().join("context.db")).await?;
        library.keep(documents(folder)?).await?;
        let grades = grades(folder)?;
        let (mut sum, mut queries) = (0.0, 0.0);
        for line in fs::read_to_string(folder.join("queries.tsv"))?.lines() {
            let Some((id, text)) = line.split_once('\t') else { continue };
            let Some(grades) = grades.get(id) else { continue };
            sum += gain(&found(&library, text).await?, grades);
            queries += 1.0;
        }
        let status = library.status().await?;
        println!(
            "{}\t{:.4}\t{queries} queries, {} documents, {} passages",
            folder.display(),
            sum / queries,
            status.documents,
            status.passages
        );
    }
    Ok(())
}

fn documents(folder: &Path) -> Result<Vec<NewDocument>, Box<dyn Error>> {
    let text = fs::read_to_string(folder.join("docs.tsv"))?;
    let documents = text.lines().filter_map(|line| {
        let mut fields = line.split('\t');
        let (id, title, text) = (fields.next()?, fields.next()?, fields.next()?);
        let text =
            if title.is_empty() { text.to_owned() } else { format!("# {title}\n\n{text}\n") };
        Some(NewDocument {
            key: format!("/collection/{id}.md"),
            origin: DocumentOrigin::File { folder: "/collection".to_owned() },
            stamp: SourceStamp { digest: Digest::of(text.as_bytes()), bytes: 0, modified: 0 },
            trust: DocumentTrust::Untrusted,
            document: read(DocumentFormat::Markdown, &format!("{id}.md"), &text),
        })
    });
    Ok(documents.collect())
}

fn grades(folder: &Path) -> Result<Grades, Box<dyn Error>> {
    let mut grades = Grades::new();
    for line in fs::read_to_string(folder.join("qrels.tsv"))?.lines() {
        let mut fields = line.split('\t');
        if let (Some(query), Some(id), Some(grade)) = (fields.next(), fields.next(), fields.next())
        {
            grades.entry(query.to_owned()).or_default().insert(id.to_owned(), grade.parse()?);
        }
    }
    Ok(grades)
}

/// Returns the documents of the found passages, each once.
async fn found(library: &Library, query: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let mut ids: Vec<String> = Vec::new();
    for hit in library.search(query, ASKED).await? {
        let id = hit.key.trim_start_matches("/collection/").trim_end_matches(".md").to_owned();
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// Returns nDCG@10: the discounted gain of the first ten, relative to the ideal.
fn gain(found: &[String], grades: &HashMap<String, f64>) -> f64 {
    let discounted = |grades: Vec<f64>| -> f64 {
        grades.iter().zip(2_u32..).map(|(grade, place)| grade / f64::from(place).log2()).sum()
    };
    let given = found.iter().take(10).map(|id| grades.get(id).copied().unwrap_or_default());
    let mut best: Vec<f64> = grades.values().copied().collect();
    best.sort_by(|one, other| other.total_cmp(one));
    best.truncate(10);
    discounted(given.collect()) / discounted(best)
}
