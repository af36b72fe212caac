//! Stores a snapshot of a server's resource as a document, with its origin.
//!
//! The caller reads the resource and decides whether the server's contents may be stored; this
//! module connects to no server. A resource becomes one document, however many parts it has. An
//! unchanged resource is not stored again.

mod document;
mod part;
#[cfg(test)]
mod tests;

use serde::Serialize;
use toolgate_library::{
    Document, DocumentOrigin, DocumentTrust, Library, NewDocument, SourceStamp,
};
use toolgate_model::Digest;
use toolgate_wire::words;

pub use part::{ResourceBody, ResourcePart};

use crate::error::ContextError;
use crate::ingest::{IngestRemark, now};
use crate::pdf::PdfReader;

/// The contents of a resource at the time it was read.
#[derive(Debug, Clone)]
pub struct ResourceSnapshot {
    /// The server.
    pub server: String,
    /// The URI as the server spells it.
    pub uri: String,
    /// The name that the server states, if any.
    pub name: Option<String>,
    /// Whether the user trusts it.
    pub trust: DocumentTrust,
    /// The contents, in order.
    pub parts: Vec<ResourcePart>,
}

/// The result of storing a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ResourceCompileReport {
    /// The key of the document.
    pub key: String,
    /// Whether the document is new.
    pub outcome: ResourceCompileOutcome,
    /// The title of the document.
    pub title: String,
    /// The number of passages.
    pub passages: u64,
    /// The number of parts.
    pub parts: usize,
    /// The size of all parts in bytes.
    pub bytes: u64,
    /// The digest of all parts.
    pub digest: String,
    /// Parts that are missing or incomplete, and why.
    pub remarks: Vec<IngestRemark>,
}

words! {
    /// Whether a stored document is new, changed or unchanged.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum ResourceCompileOutcome {
        /// It is new.
        Added = "added",
        /// It replaced an earlier version.
        Changed = "changed",
        /// It did not change.
        Unchanged = "unchanged",
    }
}

/// Returns the key of a compiled resource.
pub fn resource_key(server: &str, uri: &str) -> String {
    format!("resource:{server} {uri}")
}

/// Stores a resource and replaces its earlier version.
pub async fn compile(
    library: &Library,
    pdf: &PdfReader,
    resource: ResourceSnapshot,
) -> Result<ResourceCompileReport, ContextError> {
    let key = resource_key(&resource.server, &resource.uri);
    let (digest, bytes) = (digest(&resource.parts), size(&resource.parts));
    let known = library.find_document(&key).await?;
    // Parse it even if it did not change, because every report contains the remarks on its parts.
    let (document, remarks) = document::read(pdf, &resource).await?;
    let outcome = match &known {
        None => ResourceCompileOutcome::Added,
        Some(card) if is_unchanged(card, digest, &resource, &document.title) => {
            ResourceCompileOutcome::Unchanged
        }
        Some(_) => ResourceCompileOutcome::Changed,
    };
    let compiled = ResourceCompileReport {
        outcome,
        title: document.title.clone(),
        passages: document.passages.len() as u64,
        parts: resource.parts.len(),
        bytes,
        digest: digest.to_string(),
        remarks,
        key: key.clone(),
    };
    if outcome != ResourceCompileOutcome::Unchanged {
        let ResourceSnapshot { server, uri, trust, .. } = resource;
        let stamp = SourceStamp { digest, bytes, modified: now() };
        let origin = DocumentOrigin::Resource { server, uri };
        library.keep(vec![NewDocument { key, origin, stamp, trust, document }]).await?;
    }
    Ok(compiled)
}

fn is_unchanged(card: &Document, digest: Digest, resource: &ResourceSnapshot, title: &str) -> bool {
    card.stamp.digest == digest && card.trust == resource.trust && card.title == title
}

/// Returns the digest of all parts with their URIs and types: the same bytes are parsed differently
/// under another type.
fn digest(parts: &[ResourcePart]) -> Digest {
    let types: Vec<String> = parts.iter().map(ResourcePart::mime).collect();
    Digest::of_parts(parts.iter().zip(&types).flat_map(|(part, mime)| {
        let kind: &[u8] = match part.body {
            ResourceBody::Text(_) => b"text",
            ResourceBody::Blob(_) => b"blob",
        };
        [kind, part.uri.as_bytes(), mime.as_bytes(), part.body.bytes()]
    }))
}

fn size(parts: &[ResourcePart]) -> u64 {
    parts.iter().map(|part| part.body.bytes().len() as u64).sum()
}
