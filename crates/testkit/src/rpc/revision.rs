//! The legacy protocol revisions and their negotiation.

/// A revision that opens with `initialize`, in order of age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LegacyRevision {
    /// 2024-11-05, the base.
    V2024_11_05,
    /// 2025-03-26, the only one with batches.
    V2025_03_26,
    /// 2025-06-18, the first with elicitation.
    V2025_06_18,
    /// 2025-11-25, the first with tasks and SSE polling.
    V2025_11_25,
}

impl LegacyRevision {
    /// The newest of them.
    pub const NEWEST: Self = Self::V2025_11_25;

    const ALL: [Self; 4] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25];

    /// The revision's name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
        }
    }

    /// Reads a revision's name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == text)
    }

    /// What a server whose newest revision is `self` answers to a client that asks for `wanted`.
    pub fn agree(self, wanted: &str) -> Self {
        Self::parse(wanted).filter(|revision| *revision <= self).unwrap_or(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_revision_is_agreed_to_and_an_unknown_one_is_not() {
        assert_eq!(LegacyRevision::NEWEST.agree("2025-03-26"), LegacyRevision::V2025_03_26);
        assert_eq!(LegacyRevision::NEWEST.agree("2099-01-01"), LegacyRevision::V2025_11_25);
    }

    #[test]
    fn a_pinned_server_never_goes_beyond_its_pin() {
        assert_eq!(LegacyRevision::V2025_06_18.agree("2025-11-25"), LegacyRevision::V2025_06_18);
    }
}
