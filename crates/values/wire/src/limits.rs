//! Limits on the size and shape of a message.

/// The limits for one message. A message that exceeds one is rejected as a whole, never truncated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageLimits {
    /// The maximum size in bytes, at most [`MessageLimits::MAX_BYTES`].
    pub bytes: usize,
    /// The maximum nesting of objects and arrays, at most [`MessageLimits::MAX_DEPTH`].
    pub depth: usize,
    /// The maximum number of JSON values. Bytes alone do not bound memory: `[{},{},…]` grows
    /// fifteenfold in a parsed tree.
    pub nodes: usize,
    /// The maximum number of messages in a batch.
    pub batch: usize,
}

impl MessageLimits {
    /// The largest message that any configuration allows.
    pub const MAX_BYTES: usize = 64 << 20;
    /// The deepest nesting that any configuration allows. The scanner recurses once per level, so
    /// this also bounds its stack.
    pub const MAX_DEPTH: usize = 128;
    /// The widest limits, for bytes that were accepted before.
    pub const MAX: MessageLimits = MessageLimits {
        bytes: Self::MAX_BYTES,
        depth: Self::MAX_DEPTH,
        nodes: usize::MAX,
        batch: usize::MAX,
    };
}

impl Default for MessageLimits {
    fn default() -> Self {
        Self { bytes: 8 << 20, depth: 64, nodes: 200_000, batch: 1_000 }
    }
}
