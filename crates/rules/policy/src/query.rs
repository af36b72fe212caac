//! The input of a decision: the request, and the facts besides the rules.

use toolgate_model::{ApprovalMode, CapabilityId, Origin};

/// The request to decide about.
#[derive(Debug, Clone, Copy)]
pub struct PolicyQuery<'a> {
    /// The capability. For a resource, the URI that is read, even if a template covers it.
    pub id: &'a CapabilityId,
    /// Its tags.
    pub tags: &'a [String],
    /// The name that the client reports.
    pub client: &'a str,
    /// The identified caller: `local`, or `key:NAME`.
    pub caller: &'a str,
    /// The caller's profile.
    pub profile: &'a str,
    /// The raw arguments; `{}` if there are none.
    pub arguments: &'a [u8],
}

/// The facts besides the rules.
#[derive(Debug, Clone, Copy, Default)]
pub struct PolicyFacts<'a> {
    /// The reason why the call is blocked whatever rules allow (quarantine, changed definition,
    /// quota, …), worded so that it says what to do.
    pub block: Option<&'a str>,
    /// A valid standing grant, as shown to people. It does not satisfy an administrator's `ask`.
    /// The approval of a single call is not a standing grant: it answers an `ask`, whichever rule
    /// requires it.
    pub grant: Option<&'a str>,
    /// Where the server is declared, if that declaration trusts it. Trust in a project file has no
    /// effect.
    pub trust: Option<&'a Origin>,
    /// The `approval` setting of the server's entry for this tool, and where it is declared. In a
    /// project file it can only ask.
    pub approval: Option<(ApprovalMode, &'a Origin)>,
    /// Whether the tool is read-only, by an operator's tag or a trusted server's annotation
    /// (invariant 8).
    pub read_only: bool,
    /// Whether the server is built into this program.
    pub built_in: bool,
    /// Whether taint is on, the caller has read untrusted content, and the tool is `egress` or
    /// `destructive`.
    pub tainted: bool,
    /// Whether the tool is destructive.
    pub destructive: bool,
}
