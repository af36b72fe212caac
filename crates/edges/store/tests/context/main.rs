//! The local context on real files: what is kept is found, what is forgotten is gone, and nothing
//! that is asked breaks it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

mod asking;
mod file;
mod keeping;
mod model;

use toolgate_model::Digest;
use toolgate_reading::{Document, Passage, Place};
use toolgate_store::context::{Fresh, Library, Origin, Stamp, Trust};

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

pub(crate) fn stamp(text: &str) -> Stamp {
    Stamp { digest: Digest::of(text.as_bytes()), bytes: text.len() as u64, modified: 1_000 }
}

/// A file whose passages these are.
pub(crate) fn file(key: &str, title: &str, passages: &[&str]) -> Fresh {
    let passage = |(text, line): (&&str, u32)| Passage {
        heading: title.to_owned(),
        text: (*text).to_owned(),
        place: Place::Lines { first: line, last: line },
    };
    Fresh {
        key: key.to_owned(),
        origin: Origin::File { folder: "/notes".to_owned() },
        stamp: stamp(&passages.concat()),
        trust: Trust::Untrusted,
        document: Document {
            title: title.to_owned(),
            passages: passages.iter().zip(1..).map(passage).collect(),
            cut: None,
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
