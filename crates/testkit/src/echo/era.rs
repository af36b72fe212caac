//! Which of the protocol's two forms a peer of the benchmark speaks, and how they differ in bytes.

/// A form of the protocol.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Era {
    /// The revisions that open with `initialize`.
    Legacy,
    /// 2026-07-28: no sessions, every request tells who asks.
    Modern,
}

impl Era {
    /// What a result of this era has beside its own members.
    pub(super) fn mark(self) -> &'static str {
        match self {
            Era::Legacy => "",
            Era::Modern => r#","resultType":"complete""#,
        }
    }

    /// The same for a result that may be cached; nobody may cache this one.
    pub(super) fn cacheable_mark(self) -> &'static str {
        match self {
            Era::Legacy => "",
            Era::Modern => r#","resultType":"complete","ttlMs":0,"cacheScope":"private""#,
        }
    }
}
