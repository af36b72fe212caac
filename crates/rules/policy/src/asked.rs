//! What is decided about: somebody's wish, and what is known beside the rules.

use toolgate_model::{Approval, CapabilityId, Origin};

/// What somebody wants to do.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The capability; of a resource that is read, under the very URI that is read, also where a
    /// template stands for it.
    pub id: &'a CapabilityId,
    /// Its tags.
    pub tags: &'a [String],
    /// The client, as it calls itself.
    pub client: &'a str,
    /// The caller, as it was identified: `local`, or `key:NAME`.
    pub caller: &'a str,
    /// The caller's profile.
    pub profile: &'a str,
    /// The arguments, raw; `{}` where there are none.
    pub arguments: &'a [u8],
}

/// What is known beside the rules.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts<'a> {
    /// Why it cannot be done whatever anybody allows (quarantined, changed since it was approved,
    /// quota, …), in words that say what to do.
    pub block: Option<&'a str>,
    /// A valid standing grant, as it is told to people. It does not answer an administrator's `ask`.
    /// An approval of this one call is no standing grant: it is the answer to an `ask`, whoever
    /// demanded it, and belongs to whoever asks.
    pub grant: Option<&'a str>,
    /// Where the server is declared, if it is trusted there. The trust of a project's file counts
    /// for nothing.
    pub trust: Option<&'a Origin>,
    /// When somebody is asked, as the server's entry says it of this tool, and where. Of a project's
    /// file only what asks counts.
    pub approval: Option<(Approval, &'a Origin)>,
    /// Whether it only reads, by invariant 8 (an operator's tag, or a trusted server's annotation).
    pub read_only: bool,
    /// Whether it is of a server inside this program.
    pub built_in: bool,
    /// Whether taint is on, the caller has read untrusted content, and the tool is `egress` or
    /// `destructive`.
    pub tainted: bool,
    /// Whether the tool is destructive.
    pub destructive: bool,
    /// Whether somebody can be asked at all.
    pub can_ask: bool,
}
