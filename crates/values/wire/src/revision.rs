//! The revisions of MCP, in order, and what each of them brought or took.

use std::{fmt, str::FromStr};

/// A revision of MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// 2024-11-05: the base.
    V2024_11_05,
    /// 2025-03-26: Streamable HTTP, batches, tool annotations, audio.
    V2025_03_26,
    /// 2025-06-18: structured output, elicitation, resource links; no batches.
    V2025_06_18,
    /// 2025-11-25: tasks, URL elicitation, icons.
    V2025_11_25,
    /// 2026-07-28: no sessions, no `initialize`.
    V2026_07_28,
}

/// How peers of a revision converse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Era {
    /// A session opened by `initialize`; both sides send requests.
    Legacy,
    /// Every request stands for itself; the server asks through its results.
    Modern,
}

impl Revision {
    /// Every revision, oldest first.
    pub const ALL: [Revision; 5] = [
        Revision::V2024_11_05,
        Revision::V2025_03_26,
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ];
    /// The newest revision that opens with `initialize`.
    pub const LATEST_LEGACY: Revision = Revision::V2025_11_25;
    /// The revision an HTTP request without a version header is taken for.
    pub const ASSUMED_OVER_HTTP: Revision = Revision::V2025_03_26;

    /// The spelling on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Revision::V2024_11_05 => "2024-11-05",
            Revision::V2025_03_26 => "2025-03-26",
            Revision::V2025_06_18 => "2025-06-18",
            Revision::V2025_11_25 => "2025-11-25",
            Revision::V2026_07_28 => "2026-07-28",
        }
    }

    /// The era it belongs to.
    pub fn era(self) -> Era {
        if self <= Revision::LATEST_LEGACY { Era::Legacy } else { Era::Modern }
    }

    /// Whether receivers must accept batches.
    pub fn batches(self) -> bool {
        self == Revision::V2025_03_26
    }

    /// Whether HTTP is Streamable HTTP, rather than HTTP+SSE with two endpoints.
    pub fn streamable_http(self) -> bool {
        self >= Revision::V2025_03_26
    }

    /// Whether tools carry annotations.
    pub fn tool_annotations(self) -> bool {
        self >= Revision::V2025_03_26
    }

    /// Whether content may be audio.
    pub fn audio(self) -> bool {
        self >= Revision::V2025_03_26
    }

    /// Whether the server declares completions as a capability.
    pub fn completions_capability(self) -> bool {
        self >= Revision::V2025_03_26
    }

    /// Whether later HTTP requests carry `MCP-Protocol-Version`.
    pub fn version_header(self) -> bool {
        self >= Revision::V2025_06_18
    }

    /// Whether tools have `outputSchema` and results `structuredContent`.
    pub fn structured_output(self) -> bool {
        self >= Revision::V2025_06_18
    }

    /// Whether content may be a link to a resource.
    pub fn resource_links(self) -> bool {
        self >= Revision::V2025_06_18
    }

    /// Whether capabilities have a `title`.
    pub fn titles(self) -> bool {
        self >= Revision::V2025_06_18
    }

    /// Whether a server may ask the user by form.
    pub fn elicitation(self) -> bool {
        self >= Revision::V2025_06_18
    }

    /// Whether a server may send the user to a URL.
    pub fn url_elicitation(self) -> bool {
        self >= Revision::V2025_11_25
    }

    /// Whether capabilities have icons.
    pub fn icons(self) -> bool {
        self >= Revision::V2025_11_25
    }

    /// Whether sampling may offer tools to the model.
    pub fn sampling_tools(self) -> bool {
        self >= Revision::V2025_11_25
    }

    /// Whether a server may close an SSE stream early and be polled (`retry`, primer event).
    pub fn sse_polling(self) -> bool {
        self == Revision::V2025_11_25
    }

    /// Whether tasks are part of the core protocol.
    pub fn core_tasks(self) -> bool {
        self == Revision::V2025_11_25
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The version is none of [`Revision::ALL`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("recognise the protocol version")]
pub struct UnknownRevision;

impl FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == text).ok_or(UnknownRevision)
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
        assert_eq!("2025-03-27".parse::<Revision>(), Err(UnknownRevision));
    }

    #[test]
    fn only_one_revision_has_batches_and_only_the_newest_is_modern() {
        let with_batches: Vec<_> = Revision::ALL.into_iter().filter(|r| r.batches()).collect();
        assert_eq!(with_batches, [Revision::V2025_03_26]);
        let modern: Vec<_> = Revision::ALL.into_iter().filter(|r| r.era() == Era::Modern).collect();
        assert_eq!(modern, [Revision::V2026_07_28]);
    }
}
