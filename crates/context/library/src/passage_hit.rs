//! The results of a search, and the status of the library.

use toolgate_reading::PassageLocation;

use crate::{DocumentOrigin, DocumentTrust};

/// A passage found by a search.
#[derive(Debug, Clone)]
pub struct PassageHit {
    /// Its id, which stays the same until its document changes.
    pub passage: i64,
    /// Its document's key.
    pub key: String,
    /// The origin of the document.
    pub origin: DocumentOrigin,
    /// The document's title.
    pub title: String,
    /// The headings above it.
    pub heading: String,
    /// Its text.
    pub text: String,
    /// Its position in the document.
    pub place: PassageLocation,
    /// When the document was last modified, in milliseconds since 1970.
    pub modified: i64,
    /// Whether the user trusts the document.
    pub trust: DocumentTrust,
    /// Its relevance; higher is better.
    pub score: f64,
}

/// Returns the title of a document and the headings above a passage, for display.
pub fn heading_path(title: &str, heading: &str) -> String {
    match (title, heading) {
        (title, "") => title.to_owned(),
        ("", heading) => heading.to_owned(),
        // The outermost heading is often the title.
        (title, heading) if heading.starts_with(title) => heading.to_owned(),
        (title, heading) => format!("{title} > {heading}"),
    }
}

/// The size and the sources of a library.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LibraryStatus {
    /// The number of documents.
    pub documents: u64,
    /// The number of passages.
    pub passages: u64,
    /// The size of all sources in bytes.
    pub bytes: u64,
    /// The size of the library's file in bytes.
    pub size: u64,
    /// When a document was last stored, in milliseconds since 1970.
    pub latest: Option<i64>,
    /// Each ingested folder, with its number of documents.
    pub folders: Vec<(String, u64)>,
    /// Each server with stored resources, with their number.
    pub servers: Vec<(String, u64)>,
}
