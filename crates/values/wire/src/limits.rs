//! How much of a message is read before it is refused.

/// Bounds of one message. What exceeds them is refused whole, never cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the message; more than [`Limits::MAX_BYTES`] is never accepted.
    pub bytes: usize,
    /// Nested objects and arrays; more than [`Limits::MAX_DEPTH`] is never accepted.
    pub depth: usize,
    /// JSON values in all. Bytes alone do not bound memory: `[{},{},…]` grows fifteenfold in a
    /// parsed tree.
    pub nodes: usize,
    /// Messages in one batch.
    pub batch: usize,
}

impl Limits {
    /// No message is larger, whatever the configuration says.
    pub const MAX_BYTES: usize = 64 << 20;
    /// The scanner recurses once per level, so this also bounds its stack.
    pub const MAX_DEPTH: usize = 128;
    /// The widest limits there are, for bytes that were accepted before.
    pub const WIDEST: Limits = Limits {
        bytes: Self::MAX_BYTES,
        depth: Self::MAX_DEPTH,
        nodes: usize::MAX,
        batch: usize::MAX,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 8 << 20, depth: 64, nodes: 200_000, batch: 1_000 }
    }
}
