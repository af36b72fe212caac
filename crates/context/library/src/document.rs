//! The value types of documents, without their passages.

use serde::{Deserialize, Serialize};
use toolgate_model::Digest;
use toolgate_reading::ParsedDocument;

/// A document to store. It replaces one with the same key.
#[derive(Debug, Clone)]
pub struct NewDocument {
    /// Its key: an absolute path, `resource:SERVER URI`, or `note:NAME`.
    pub key: String,
    /// Its origin.
    pub origin: DocumentOrigin,
    /// The state of its source.
    pub stamp: SourceStamp,
    /// Whether the user trusts it.
    pub trust: DocumentTrust,
    /// Its content.
    pub document: ParsedDocument,
}

/// The origin of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum DocumentOrigin {
    /// A file below an ingested folder. For a file that was ingested by its own path, the folder is
    /// its parent.
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
    /// A text that a caller provided.
    Note,
}

/// The state of a source, to detect changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceStamp {
    /// The digest of its bytes.
    pub digest: Digest,
    /// The number of bytes.
    pub bytes: u64,
    /// When it was last modified, in milliseconds since 1970. For a source without such a time,
    /// when it was ingested.
    pub modified: i64,
}

/// Whether the user trusts a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DocumentTrust {
    /// The user trusts its folder or server.
    Trusted,
    /// It may come from anyone, so a model must not follow its instructions.
    Untrusted,
}

impl DocumentTrust {
    /// Returns the trust level by whether the user trusts the source.
    pub fn of(is_trusted: bool) -> Self {
        if is_trusted { Self::Trusted } else { Self::Untrusted }
    }

    /// Returns the trust level in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Untrusted => "untrusted",
        }
    }
}

/// A stored document without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its key.
    pub key: String,
    /// Its origin.
    pub origin: DocumentOrigin,
    /// Its title.
    pub title: String,
    /// The state of its source.
    pub stamp: SourceStamp,
    /// Whether the user trusts it.
    pub trust: DocumentTrust,
    /// When it was stored, in milliseconds since 1970.
    pub kept: i64,
    /// The number of its passages.
    pub passages: u64,
}
