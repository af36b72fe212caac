//! Makes resources of servers durable: what one held when it was read, kept with where it came from.
//!
//! Whoever read the resource brings its contents; nothing here reaches a server, and whether this
//! server's contents may be kept was decided before. A resource is one document however many parts
//! it has. One that did not change since is left as it is.

mod document;
mod part;
#[cfg(test)]
mod tests;

use serde::Serialize;
use toolgate_model::Digest;
use toolgate_store::context::{Card, Fresh, Library, Origin, Stamp, Trust};

pub use part::{Body, Part};

use crate::error::ContextError;
use crate::ingest::{Remark, now};
use crate::pdf::PdfReader;

/// A resource that was read.
#[derive(Debug, Clone)]
pub struct Resource {
    /// The server it was read from.
    pub server: String,
    /// Its URI, as that server spells it.
    pub uri: String,
    /// What its server calls it, where it says so.
    pub name: Option<String>,
    /// Whose word it is.
    pub trust: Trust,
    /// What it holds, in order.
    pub parts: Vec<Part>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Compiled {
    /// What the document is known by.
    pub key: String,
    /// Whether it was there before.
    pub outcome: Outcome,
    /// Its title.
    pub title: String,
    /// How many passages it has.
    pub passages: u64,
    /// How many parts the resource has.
    pub parts: usize,
    /// Bytes of them together.
    pub bytes: u64,
    /// The digest of them together.
    pub digest: String,
    /// Parts that were not taken in, or not whole, and why.
    pub remarks: Vec<Remark>,
}

/// Whether a document was there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It was not.
    Added,
    /// It was, and said something else.
    Changed,
    /// It was what it is.
    Unchanged,
}

impl Outcome {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
        }
    }
}

/// What a compiled resource is known by.
pub fn key(server: &str, uri: &str) -> String {
    format!("resource:{server} {uri}")
}

/// Keeps a resource, in place of what it held before.
pub async fn compile(
    library: &Library,
    pdf: &PdfReader,
    resource: Resource,
) -> Result<Compiled, ContextError> {
    let key = key(&resource.server, &resource.uri);
    let (digest, bytes) = (digest(&resource.parts), size(&resource.parts));
    let known = library.card(&key).await?;
    // Read again even if nothing changed: what is said of its parts is said every time.
    let read = document::read(pdf, &resource).await?;
    let outcome = match &known {
        None => Outcome::Added,
        Some(card) if is_same(card, digest, &resource, &read.document.title) => Outcome::Unchanged,
        Some(_) => Outcome::Changed,
    };
    let compiled = Compiled {
        outcome,
        title: read.document.title.clone(),
        passages: read.document.passages.len() as u64,
        parts: resource.parts.len(),
        bytes,
        digest: digest.to_string(),
        remarks: read.remarks,
        key: key.clone(),
    };
    if outcome != Outcome::Unchanged {
        let Resource { server, uri, trust, .. } = resource;
        let stamp = Stamp { digest, bytes, modified: now() };
        let origin = Origin::Resource { server, uri };
        let document = read.document;
        library.keep(vec![Fresh { key, origin, stamp, trust, document }]).await?;
    }
    Ok(compiled)
}

fn is_same(card: &Card, digest: Digest, resource: &Resource, title: &str) -> bool {
    card.stamp.digest == digest && card.trust == resource.trust && card.title == title
}

/// The digest of all parts with what they say of themselves: a part that becomes Markdown is read
/// otherwise, though its bytes are the same.
fn digest(parts: &[Part]) -> Digest {
    let fields = |part: &'_ Part| {
        let kind: &[u8] = if matches!(part.body, Body::Text(_)) { b"text" } else { b"blob" };
        [kind.to_vec(), part.uri.clone().into_bytes(), part.mime().as_bytes().to_vec()]
    };
    let said: Vec<_> = parts.iter().map(fields).collect();
    let each = said.iter().zip(parts);
    Digest::of_parts(
        each.flat_map(|(said, part)| said.iter().map(Vec::as_slice).chain([part.body.bytes()])),
    )
}

fn size(parts: &[Part]) -> u64 {
    parts.iter().map(|part| part.body.bytes().len() as u64).sum()
}
