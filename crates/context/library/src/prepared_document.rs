//! Prepares a document for the index: the part of storing it that needs no file.
//!
//! This is most of the work, so a large ingest does it on several threads.

use toolgate_reading::Passage;
use toolgate_reading::terms::TermIndexer;

use crate::{DocumentOrigin, DocumentTrust, NewDocument, SourceStamp};

/// A document with its index terms.
#[derive(Debug)]
pub struct PreparedDocument {
    pub(crate) key: String,
    pub(crate) origin: DocumentOrigin,
    pub(crate) stamp: SourceStamp,
    pub(crate) trust: DocumentTrust,
    pub(crate) title: String,
    pub(crate) title_terms: String,
    pub(crate) path_terms: String,
    pub(crate) passages: Vec<PreparedPassage>,
}

/// A passage with its index terms, each followed by a space.
#[derive(Debug)]
pub(crate) struct PreparedPassage {
    pub(crate) passage: Passage,
    pub(crate) heading: String,
    pub(crate) body: String,
    /// The number of terms in its body.
    pub(crate) length: i64,
}

impl PreparedDocument {
    /// Computes the terms of a document. Reusing the indexer is faster, because it caches words.
    pub fn new(fresh: NewDocument, indexer: &mut TermIndexer) -> Self {
        let NewDocument { key, origin, stamp, trust, document } = fresh;
        let path_terms = index_terms(searchable_path(&key, &origin), indexer);
        let title_terms = index_terms(&document.title, indexer);
        let passages = document.passages.into_iter();
        let passages = passages.map(|passage| PreparedPassage::new(passage, indexer)).collect();
        let title = document.title;
        Self { key, origin, stamp, trust, title, title_terms, path_terms, passages }
    }

    /// Returns the bytes of text, by which callers limit the size of a transaction.
    pub fn text_bytes(&self) -> usize {
        self.passages.iter().map(|piece| piece.passage.text.len()).sum()
    }

    pub(crate) fn term_count(&self) -> i64 {
        self.passages.iter().map(|piece| piece.length).sum()
    }
}

impl PreparedPassage {
    fn new(passage: Passage, indexer: &mut TermIndexer) -> Self {
        let heading = index_terms(&passage.heading, indexer);
        let body = index_terms(&passage.text, indexer);
        let length = count_terms(&body);
        Self { passage, heading, body, length }
    }
}

/// Returns the number of terms, without the additional terms of the text's own language.
pub(crate) fn count_terms(terms: &str) -> i64 {
    let all = terms.bytes().filter(|byte| *byte == b' ').count();
    let own = terms.matches(OWN_LANGUAGE_SUFFIX).count();
    i64::try_from(all - own).unwrap_or(i64::MAX)
}

/// The suffix of a term that is specific to the text's own language.
pub(crate) const OWN_LANGUAGE_SUFFIX: &str = "_ ";

/// Returns the terms of a text, each followed by a space.
pub(crate) fn index_terms(text: &str, indexer: &mut TermIndexer) -> String {
    let mut found = String::with_capacity(text.len());
    indexer.index(text, &mut found);
    found
}

/// Returns the part of a document's name that describes its subject: for a file, its path below the
/// ingested folder. The folder's own path is the same for all its files, so it does not help.
pub(crate) fn searchable_path<'a>(key: &'a str, origin: &'a DocumentOrigin) -> &'a str {
    match origin {
        DocumentOrigin::File { folder } => {
            let below = key.strip_prefix(folder.trim_end_matches(SEPARATORS));
            below.unwrap_or(key).trim_start_matches(SEPARATORS)
        }
        DocumentOrigin::Resource { uri, .. } => uri,
        DocumentOrigin::Note => key.strip_prefix("note:").unwrap_or(key),
    }
}

/// The separators of paths.
pub(crate) const SEPARATORS: [char; 2] = ['/', '\\'];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_that_in_the_folder_that_was_ingested() {
        let file = |folder: &str| DocumentOrigin::File { folder: folder.into() };
        assert_eq!(searchable_path("/home/me/notes/a/b.md", &file("/home/me/notes")), "a/b.md");
        assert_eq!(searchable_path("/home/me/notes/b.md", &file("/home/me/notes/")), "b.md");
        assert_eq!(searchable_path("b.md", &file("notes")), "b.md");
        assert_eq!(searchable_path("/b.md", &file("/")), "b.md");
        let resource = DocumentOrigin::Resource { server: "s".into(), uri: "x://y".into() };
        assert_eq!(searchable_path("resource:s x://y", &resource), "x://y");
        assert_eq!(searchable_path("note:plan", &DocumentOrigin::Note), "plan");
    }
}
