//! A document made ready for the index: the work of keeping it that needs no file.
//!
//! It is most of that work, and whoever ingests much does it on several threads.

use toolgate_reading::Passage;
use toolgate_reading::terms::Indexer;

use super::{Fresh, Origin, Stamp, Trust};

/// A document with its terms.
#[derive(Debug)]
pub struct Prepared {
    pub(super) key: String,
    pub(super) origin: Origin,
    pub(super) stamp: Stamp,
    pub(super) trust: Trust,
    pub(super) title: String,
    pub(super) title_terms: String,
    pub(super) path_terms: String,
    pub(super) passages: Vec<Piece>,
}

/// A passage with its terms, each followed by a blank.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) passage: Passage,
    pub(super) heading: String,
    pub(super) body: String,
    /// How many terms its body has.
    pub(super) length: i64,
}

impl Prepared {
    /// Finds the terms of a document, with an indexer that may know many words already.
    pub fn new(fresh: Fresh, indexer: &mut Indexer) -> Self {
        let Fresh { key, origin, stamp, trust, document } = fresh;
        let path_terms = indexed(path(&key, &origin), indexer);
        let title_terms = indexed(&document.title, indexer);
        let passages = document.passages.into_iter();
        let passages = passages.map(|passage| Piece::new(passage, indexer)).collect();
        let title = document.title;
        Self { key, origin, stamp, trust, title, title_terms, path_terms, passages }
    }

    /// How many bytes of text it has: what a transaction is measured by.
    pub fn size(&self) -> usize {
        self.passages.iter().map(|piece| piece.passage.text.len()).sum()
    }

    pub(super) fn length(&self) -> i64 {
        self.passages.iter().map(|piece| piece.length).sum()
    }
}

impl Piece {
    fn new(passage: Passage, indexer: &mut Indexer) -> Self {
        let heading = indexed(&passage.heading, indexer);
        let body = indexed(&passage.text, indexer);
        let length = length(&body);
        Self { passage, heading, body, length }
    }
}

/// How many terms there are, not counting again those that words have by the text's own language.
pub(super) fn length(terms: &str) -> i64 {
    let all = terms.bytes().filter(|byte| *byte == b' ').count();
    let own = terms.matches(OWN).count();
    i64::try_from(all - own).unwrap_or(i64::MAX)
}

/// How a term ends that a text has by its own language.
pub(super) const OWN: &str = "_ ";

/// The terms of a text, each followed by a blank.
pub(super) fn indexed(text: &str, indexer: &mut Indexer) -> String {
    let mut found = String::with_capacity(text.len());
    indexer.index(text, &mut found);
    found
}

/// What of a document's name tells what it is about: of a file, its path in the ingested folder.
/// What all files of a folder have in common would only make those words look common.
pub(super) fn path<'a>(key: &'a str, origin: &'a Origin) -> &'a str {
    match origin {
        Origin::File { folder } => {
            let below = key.strip_prefix(folder.trim_end_matches(SEPARATORS));
            below.unwrap_or(key).trim_start_matches(SEPARATORS)
        }
        Origin::Resource { uri, .. } => uri,
        Origin::Note => key.strip_prefix("note:").unwrap_or(key),
    }
}

/// What stands between the parts of a path.
pub(super) const SEPARATORS: [char; 2] = ['/', '\\'];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_that_in_the_folder_that_was_ingested() {
        let file = |folder: &str| Origin::File { folder: folder.into() };
        assert_eq!(path("/home/me/notes/a/b.md", &file("/home/me/notes")), "a/b.md");
        assert_eq!(path("/home/me/notes/b.md", &file("/home/me/notes/")), "b.md");
        assert_eq!(path("b.md", &file("notes")), "b.md");
        assert_eq!(path("/b.md", &file("/")), "b.md");
        let resource = Origin::Resource { server: "s".into(), uri: "x://y".into() };
        assert_eq!(path("resource:s x://y", &resource), "x://y");
        assert_eq!(path("note:plan", &Origin::Note), "plan");
    }
}
