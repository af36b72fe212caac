//! The two eras of the protocol, and how their messages differ in bytes.

/// An era of the protocol.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TestEra {
    /// The revisions that open with `initialize`.
    Legacy,
    /// 2026-07-28: no sessions, every request tells who asks.
    Modern,
}

impl TestEra {
    /// What a result of this era has beside its own members.
    pub(super) fn result_suffix(self) -> &'static str {
        match self {
            TestEra::Legacy => "",
            TestEra::Modern => r#","resultType":"complete""#,
        }
    }

    /// The same for a cacheable result, which is marked as not to be cached.
    pub(super) fn cacheable_result_suffix(self) -> &'static str {
        match self {
            TestEra::Legacy => "",
            TestEra::Modern => r#","resultType":"complete","ttlMs":0,"cacheScope":"private""#,
        }
    }
}
