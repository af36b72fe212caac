//! An envelope that was read before: the same bytes need not be read again.
//!
//! A modern client sends the same `_meta` with every request, and it is most of a small message. It
//! was accepted whole once, and bytes that are the same mean the same; so finding them again is
//! enough. Nothing is accepted here that the scan would not accept.

use bytes::Bytes;

use crate::{Limits, Span, meta::Claim, scanner::Doubtful, scanner::Scanner};

/// The largest envelope that is remembered.
const MAX_BYTES: usize = 4096;

/// One envelope, and what a scan of it found and spent.
#[derive(Debug, Clone)]
pub struct Remembered {
    bytes: Bytes,
    /// Where its members stand, counted from its first byte.
    claim: Claim,
    nodes: usize,
    /// It is nested no deeper than this.
    depth: usize,
}

impl Remembered {
    /// Remembers the `_meta` at `place` of an accepted message.
    pub(crate) fn of(message: &Bytes, place: Span, claim: Claim) -> Option<Self> {
        if place.len() > MAX_BYTES {
            return None;
        }
        // A copy: remembering an envelope must not keep a message in memory.
        let bytes = Bytes::copy_from_slice(place.of(message));
        let mut scanner = Scanner::new(&bytes, &Limits::WIDEST);
        scanner.value(Doubtful::Refused).ok()?;
        let nodes = Limits::WIDEST.nodes - scanner.nodes_left();
        let depth = bytes.iter().filter(|byte| matches!(byte, b'{' | b'[')).count();
        Some(Self { claim: claim.from(place), nodes, depth, bytes })
    }

    /// The envelope.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    pub(crate) fn claim(&self) -> Claim {
        self.claim
    }

    pub(crate) fn nodes(&self) -> usize {
        self.nodes
    }

    pub(crate) fn depth(&self) -> usize {
        self.depth
    }
}
