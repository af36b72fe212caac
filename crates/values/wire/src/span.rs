//! The half-open byte range of one JSON value in a message.
//!
//! A span does not know the bytes it was taken from. Applied to other bytes it yields an empty
//! slice instead of a panic.

use std::num::NonZeroU32;

/// A half-open range of bytes, relative to the slice it was found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    start: u32,
    /// One more than the end. It is never zero, so `Option<Span>` is no larger than `Span`.
    beyond: NonZeroU32,
}

impl Span {
    /// Makes the span `start..end`; it is empty if `end` is before `start`.
    ///
    /// Offsets beyond `u32` cannot occur in an accepted message
    /// ([`MessageLimits::MAX_BYTES`](crate::MessageLimits::MAX_BYTES)); they saturate.
    pub fn new(start: usize, end: usize) -> Self {
        let narrow = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX - 1);
        let beyond = narrow(end.max(start)).saturating_add(1);
        Self { start: narrow(start), beyond: NonZeroU32::MIN.saturating_add(beyond - 1) }
    }

    /// Returns the span of the object in `bytes`, without the white space around it.
    pub fn of_object(bytes: &[u8]) -> Self {
        let start = bytes.iter().position(|&byte| byte == b'{').unwrap_or(0);
        let end = bytes.iter().rposition(|&byte| byte == b'}').map_or(0, |last| last + 1);
        Self::new(start, end)
    }

    /// Returns the offset of the first byte.
    pub fn start(self) -> usize {
        self.start as usize
    }

    /// Returns the offset after the last byte.
    pub fn end(self) -> usize {
        self.beyond.get() as usize - 1
    }

    /// Returns the number of bytes.
    pub fn len(self) -> usize {
        self.end() - self.start()
    }

    /// Returns true if the span is empty.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes of the span, or an empty slice if `bytes` is too short.
    pub fn slice(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start()..self.end()).unwrap_or_default()
    }

    /// Converts a span relative to the slice at `outer` into one relative to the outer bytes.
    pub fn within(self, outer: Span) -> Span {
        Span::new(outer.start() + self.start(), outer.start() + self.end())
    }
}
