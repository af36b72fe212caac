//! A `_meta` that was scanned before, so that equal bytes need no second scan.
//!
//! A modern client sends the same `_meta` with every request, and it is most of a small message.
//! Equal bytes mean the same, so a lookup replaces the scan. The cache accepts nothing that the
//! scan would reject.

use bytes::Bytes;

use crate::{
    MessageLimits, Span, meta::ClientMetaSpans, scanner::AmbiguousJsonHandling,
    scanner::JsonScanner,
};

/// The largest `_meta` that is cached, in bytes.
const MAX_BYTES: usize = 4096;

/// One scanned `_meta`, with the spans the scan found and the limits it used up.
#[derive(Debug, Clone)]
pub struct CachedMeta {
    bytes: Bytes,
    /// The spans of its members, relative to its first byte.
    pub(crate) client_meta: ClientMetaSpans,
    pub(crate) nodes: usize,
    /// An upper bound for its nesting depth.
    pub(crate) depth: usize,
}

impl CachedMeta {
    /// Caches the `_meta` at `place` of an accepted message.
    pub(crate) fn from_message(
        message: &Bytes,
        place: Span,
        claim: ClientMetaSpans,
    ) -> Option<Self> {
        if place.len() > MAX_BYTES {
            return None;
        }
        // A copy, so that the cache does not keep the whole message in memory.
        let bytes = Bytes::copy_from_slice(place.slice(message));
        let mut scanner = JsonScanner::new(&bytes, &MessageLimits::MAX);
        scanner.value(AmbiguousJsonHandling::Refused).ok()?;
        let nodes = MessageLimits::MAX.nodes - scanner.nodes_left;
        let depth = bytes.iter().filter(|byte| matches!(byte, b'{' | b'[')).count();
        Some(Self { client_meta: claim.relative_to(place), nodes, depth, bytes })
    }

    /// Returns the bytes of the `_meta` object.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}
