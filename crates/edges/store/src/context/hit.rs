//! What a search finds, and how the whole stands.

use toolgate_reading::Place;

use super::{Origin, Trust};

/// A passage that was found.
#[derive(Debug, Clone)]
pub struct Hit {
    /// Its number, the same as long as its document does not change.
    pub passage: i64,
    /// Its document's key.
    pub key: String,
    /// Where that came from.
    pub origin: Origin,
    /// The document's title.
    pub title: String,
    /// The headings it stands under.
    pub heading: String,
    /// Its text.
    pub text: String,
    /// Where it stands.
    pub place: Place,
    /// When its document was changed last, in milliseconds since 1970.
    pub modified: i64,
    /// Whose word it is.
    pub trust: Trust,
    /// How well it fits; higher is better.
    pub score: f64,
}

/// How much there is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// Documents.
    pub documents: u64,
    /// Passages.
    pub passages: u64,
    /// Bytes of their sources.
    pub bytes: u64,
    /// The size of the file.
    pub size: u64,
    /// When something was kept last, in milliseconds since 1970.
    pub latest: Option<i64>,
    /// Each folder that was ingested, with its documents.
    pub folders: Vec<(String, u64)>,
    /// Each server whose resources were compiled, with their number.
    pub servers: Vec<(String, u64)>,
}
