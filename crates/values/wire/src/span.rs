//! A place in a message: the half-open byte range of one JSON value.
//!
//! A span knows nothing of the bytes it was taken from; asked of other bytes it yields an empty
//! slice rather than a panic.

use std::num::NonZeroU32;

/// A half-open range of bytes, relative to the slice it was found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    start: u32,
    /// One more than the end, so that no span at all needs no room of its own.
    beyond: NonZeroU32,
}

impl Span {
    /// The span from `start` up to, not including, `end`; empty if that lies before `start`.
    ///
    /// Offsets beyond `u32` cannot occur in an accepted message
    /// ([`Limits::MAX_BYTES`](crate::Limits::MAX_BYTES)); they saturate here.
    pub fn new(start: usize, end: usize) -> Self {
        let narrow = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX - 1);
        let beyond = narrow(end.max(start)).saturating_add(1);
        Self { start: narrow(start), beyond: NonZeroU32::MIN.saturating_add(beyond - 1) }
    }

    /// Offset of the first byte.
    pub fn start(self) -> usize {
        self.start as usize
    }

    /// Offset behind the last byte.
    pub fn end(self) -> usize {
        self.beyond.get() as usize - 1
    }

    /// Number of bytes.
    pub fn len(self) -> usize {
        self.end() - self.start()
    }

    /// Whether the span covers nothing.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The bytes at this place, or nothing if `bytes` does not reach that far.
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start()..self.end()).unwrap_or_default()
    }

    /// The same place seen from outside: `self` was found inside the slice at `outer`.
    pub fn within(self, outer: Span) -> Span {
        Span::new(outer.start() + self.start(), outer.start() + self.end())
    }
}
