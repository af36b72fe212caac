//! The revisions of MCP, in order, and the features of each.

use crate::words;

words! {
    /// A dated revision of MCP, as written on the wire.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Revision {
        /// 2024-11-05: the base.
        V2024_11_05 = "2024-11-05",
        /// 2025-03-26: Streamable HTTP, batches, tool annotations, audio.
        V2025_03_26 = "2025-03-26",
        /// 2025-06-18: structured output, elicitation, resource links; no batches.
        V2025_06_18 = "2025-06-18",
        /// 2025-11-25: tasks, URL elicitation, icons.
        V2025_11_25 = "2025-11-25",
        /// 2026-07-28: no sessions, no `initialize`.
        V2026_07_28 = "2026-07-28",
    }
}

/// A family of revisions that share a session model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Era {
    /// `initialize` opens a session, and both sides send requests.
    Legacy,
    /// Every request is self-contained, and the server asks questions through its results.
    Modern,
}

impl Revision {
    /// The newest revision that starts with `initialize`.
    pub const LATEST_LEGACY: Revision = Revision::V2025_11_25;

    /// Returns the era of the revision.
    pub fn era(self) -> Era {
        if self <= Revision::LATEST_LEGACY { Era::Legacy } else { Era::Modern }
    }

    /// Returns true if receivers must accept batches.
    pub fn has_batches(self) -> bool {
        self == Revision::V2025_03_26
    }

    /// Returns true if content may be audio.
    pub fn has_audio(self) -> bool {
        self >= Revision::V2025_03_26
    }

    /// Returns true if tools have `outputSchema` and results have `structuredContent`.
    pub fn has_structured_output(self) -> bool {
        self >= Revision::V2025_06_18
    }

    /// Returns true if content may be a resource link.
    pub fn has_resource_links(self) -> bool {
        self >= Revision::V2025_06_18
    }

    /// Returns true if definitions have a `title`.
    pub fn has_titles(self) -> bool {
        self >= Revision::V2025_06_18
    }

    /// Returns true if sampling requests may offer tools to the model.
    pub fn has_sampling_tools(self) -> bool {
        self >= Revision::V2025_11_25
    }

    /// Returns true if a server may close an SSE stream early and have the client poll (`retry`,
    /// primer event).
    pub fn has_sse_polling(self) -> bool {
        self == Revision::V2025_11_25
    }

    /// Returns true if tasks are part of the core protocol.
    pub fn has_core_tasks(self) -> bool {
        self == Revision::V2025_11_25
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_are_ordered_and_spelled_by_date() {
        assert!(Revision::ALL.is_sorted());
        assert!(Revision::ALL.map(Revision::as_str).is_sorted());
        for revision in Revision::ALL {
            assert_eq!(revision.as_str().parse(), Ok(revision));
        }
        assert_eq!("2025-03-27".parse::<Revision>(), Err(crate::UnknownWord));
    }

    #[test]
    fn only_one_revision_has_batches_and_only_the_newest_is_modern() {
        let with_batches: Vec<_> = Revision::ALL.into_iter().filter(|r| r.has_batches()).collect();
        assert_eq!(with_batches, [Revision::V2025_03_26]);
        let modern: Vec<_> = Revision::ALL.into_iter().filter(|r| r.era() == Era::Modern).collect();
        assert_eq!(modern, [Revision::V2026_07_28]);
    }
}
