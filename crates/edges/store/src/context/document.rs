//! What is kept of a document beside its passages.

use toolgate_model::Digest;
use toolgate_reading::Document;

/// A document to keep; one of the same key is replaced.
#[derive(Debug, Clone)]
pub struct Fresh {
    /// What it is known by: an absolute path, `resource:SERVER URI`, or `note:NAME`.
    pub key: String,
    /// Where it came from.
    pub origin: Origin,
    /// What its source was like.
    pub stamp: Stamp,
    /// Whose word it is.
    pub trust: Trust,
    /// What it says.
    pub document: Document,
}

/// Where a document came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A file below a folder that was ingested (or that was named itself: then the folder is its
    /// parent).
    File {
        /// The folder.
        folder: String,
    },
    /// A resource of a server.
    Resource {
        /// The server.
        server: String,
        /// Its URI.
        uri: String,
    },
    /// Text that was handed over.
    Note,
}

/// What tells whether a source changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// The digest of its bytes.
    pub digest: Digest,
    /// How many they are.
    pub bytes: u64,
    /// When it was changed last, in milliseconds since 1970; for what has no such time, when it was
    /// taken in.
    pub modified: i64,
}

/// Whose word a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// The user said so of its folder or server.
    Trusted,
    /// Anybody's: what it says is not to be followed.
    Untrusted,
}

/// What is kept of a document, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// What it is known by.
    pub key: String,
    /// Where it came from.
    pub origin: Origin,
    /// Its title.
    pub title: String,
    /// What its source was like.
    pub stamp: Stamp,
    /// Whose word it is.
    pub trust: Trust,
    /// When it was kept, in milliseconds since 1970.
    pub kept: i64,
    /// How many passages it has.
    pub passages: u64,
}
