//! Ingests folders on a real disk into a real library, and checks what is added, kept, removed and
//! reported.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "these are tests")]

mod again;
mod texts;
mod walking;
mod watching;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use toolgate_context::ingest::{IngestOptions, IngestRemarks, IngestReport};
use toolgate_context::{Ingester, Library, PdfReader};

/// A library and a folder to fill it from.
struct Place {
    folder: TempDir,
    library: Library,
    ingest: Ingester,
}

impl Place {
    async fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("notes")).unwrap();
        let library = Library::open(folder.path().join("context.db")).await.unwrap();
        let ingest = Ingester::new(library.clone(), PdfReader::disabled());
        Self { folder, library, ingest }
    }

    /// The same with other options; nothing is remembered of before.
    fn with(&self, options: IngestOptions) -> Ingester {
        Ingester::new(self.library.clone(), PdfReader::disabled()).with_options(options)
    }

    /// A path beside the folder.
    fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// A path in the folder.
    fn at(&self, name: &str) -> PathBuf {
        self.beside("notes").join(name)
    }

    fn key(&self, name: &str) -> String {
        self.at(name).to_str().unwrap().to_owned()
    }

    /// Writes a file that was last changed an hour ago, so that its time can be relied on.
    fn write(&self, name: &str, text: &str) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        age(&path, Duration::from_secs(3600));
    }

    /// Takes the folder in.
    async fn take(&self) -> IngestReport {
        take(&self.ingest, &self.beside("notes")).await
    }

    /// What the library holds of the folder, by the path from there, with all its text.
    async fn held(&self) -> BTreeMap<String, String> {
        let mut held = BTreeMap::new();
        for key in self.library.keys("", 10_000).await.unwrap() {
            let hits = self.library.document_passages(&key).await.unwrap();
            let text: Vec<_> = hits.iter().map(|hit| hit.text.as_str()).collect();
            let name = Path::new(&key).strip_prefix(self.beside("notes")).map(Path::to_owned);
            let name = name.map_or(key, |name| name.to_str().unwrap().to_owned());
            held.insert(name, text.join("\n"));
        }
        held
    }

    /// The names alone.
    async fn names(&self) -> Vec<String> {
        self.held().await.into_keys().collect()
    }
}

async fn take(ingest: &Ingester, path: &Path) -> IngestReport {
    ingest.ingest_path(path, &mut |_| {}).await.unwrap()
}

/// Makes a file look as if it was last changed so long ago.
fn age(path: &Path, ago: Duration) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - ago).unwrap();
}

/// Added, changed, unchanged, removed.
fn counts(report: &IngestReport) -> [u64; 4] {
    [report.added, report.changed, report.unchanged, report.removed]
}

/// Why a file of this name was remarked on.
fn why<'a>(remarks: &'a IngestRemarks, name: &str) -> Option<&'a str> {
    let found = remarks.named.iter().find(|remark| remark.path.ends_with(name));
    found.map(|remark| remark.why.as_str())
}
