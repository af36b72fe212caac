//! Tests the local context on real files: searches find stored documents and no deleted ones, and
//! no query breaks them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

mod asking;
mod file;
mod keeping;
mod model;

use toolgate_library::{DocumentOrigin, DocumentTrust, Library, NewDocument, SourceStamp};
use toolgate_model::Digest;
use toolgate_reading::{ParsedDocument, Passage, PassageLocation};

/// A library in a folder of its own.
pub(crate) struct Home {
    pub(crate) library: Library,
    pub(crate) folder: tempfile::TempDir,
}

pub(crate) async fn fresh_library() -> Home {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::open(folder.path().join("context.db")).await.unwrap();
    Home { library, folder }
}

pub(crate) fn stamp(text: &str) -> SourceStamp {
    SourceStamp { digest: Digest::of(text.as_bytes()), bytes: text.len() as u64, modified: 1_000 }
}

/// Returns a file with these passages.
pub(crate) fn file(key: &str, title: &str, passages: &[&str]) -> NewDocument {
    let passage = |(text, line): (&&str, u32)| Passage {
        heading: title.to_owned(),
        text: (*text).to_owned(),
        place: PassageLocation::Lines(line, line),
    };
    NewDocument {
        key: key.to_owned(),
        origin: DocumentOrigin::File { folder: "/notes".to_owned() },
        stamp: stamp(&passages.concat()),
        trust: DocumentTrust::Untrusted,
        document: ParsedDocument {
            title: title.to_owned(),
            passages: passages.iter().zip(1..).map(passage).collect(),
            truncation: None,
        },
    }
}

/// The keys that a query finds, best first, each once.
pub(crate) async fn found(library: &Library, query: &str) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for hit in library.search(query, 100).await.unwrap() {
        if !keys.contains(&hit.key) {
            keys.push(hit.key);
        }
    }
    keys
}

/// Forgets the files at this path and below it. Returns how many there were.
pub(crate) async fn forget_folder(library: &Library, folder: &str) -> u64 {
    let found: Vec<String> = library.stamps(folder).await.unwrap().into_keys().collect();
    library.forget(&found).await.unwrap()
}
