//! The valid grants in memory. Every call looks here, so lookups neither wait nor allocate.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use toolgate_model::time::to_millis;
use toolgate_model::{CapabilityId, CapabilityKind, Digest, ServerName};
use toolgate_store::{ApprovalBinding, ApprovalChoice, Grant};

/// What an approval is bound to, borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApprovalBindingRef<'a> {
    /// The principal's name, stable across restarts.
    pub caller: &'a str,
    /// The name of the client.
    pub client: &'a str,
    /// The tool.
    pub tool: &'a CapabilityId,
    /// The digest of what is started or connected to under the server's name.
    pub identity: &'a Digest,
    /// The digest of the tool's definition.
    pub definition: &'a Digest,
}

impl ApprovalBindingRef<'_> {
    /// Returns an owned copy.
    pub fn to_binding(&self) -> ApprovalBinding {
        ApprovalBinding {
            caller: self.caller.to_owned(),
            client: self.client.to_owned(),
            tool: self.tool.clone(),
            identity: *self.identity,
            definition: *self.definition,
        }
    }
}

impl<'a> From<&'a ApprovalBinding> for ApprovalBindingRef<'a> {
    fn from(bound: &'a ApprovalBinding) -> Self {
        let ApprovalBinding { caller, client, tool, identity, definition } = bound;
        Self { caller, client, tool, identity, definition }
    }
}

/// A grant that covers a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoveringGrant {
    /// Its id.
    pub id: Arc<str>,
    /// The description shown to people.
    pub description: Arc<str>,
}

/// All valid grants at one moment.
#[derive(Default)]
pub(super) struct GrantIndex {
    for_good: HashMap<ServerName, Vec<(Grant, CoveringGrant)>>,
    once: HashSet<(ApprovalBinding, Digest)>,
    unknown: bool,
}

impl FromIterator<Grant> for GrantIndex {
    fn from_iter<I: IntoIterator<Item = Grant>>(grants: I) -> Self {
        let mut standing = Self::default();
        for grant in grants {
            match (grant.choice, grant.arguments_digest) {
                (ApprovalChoice::Once, Some(arguments)) => {
                    standing.once.insert((grant.binding, arguments));
                }
                (ApprovalChoice::Tool | ApprovalChoice::Server, None) => {
                    let covering = CoveringGrant {
                        id: (&*grant.id).into(),
                        description: describe_grant(&grant).into(),
                    };
                    let server = grant.binding.tool.server.clone();
                    standing.for_good.entry(server).or_default().push((grant, covering));
                }
                // Such a row grants nothing that is understood here.
                _ => {}
            }
        }
        standing
    }
}

impl GrantIndex {
    /// Returns an index for unreadable grants. It grants nothing.
    pub(super) fn unknown() -> Self {
        Self { unknown: true, ..Self::default() }
    }

    pub(super) fn is_unknown(&self) -> bool {
        self.unknown
    }

    pub(super) fn find(
        &self,
        bound: ApprovalBindingRef<'_>,
        pinned_at: Option<SystemTime>,
    ) -> Option<CoveringGrant> {
        let grants = self.for_good.get(&bound.tool.server)?;
        let (_, granted) = grants.iter().find(|(grant, _)| covers(grant, bound, pinned_at))?;
        Some(granted.clone())
    }

    /// Returns true if there may be a one-time grant for this call. The database decides.
    pub(super) fn may_have_once(&self, bound: &ApprovalBinding, arguments: &Digest) -> bool {
        // The set is nearly always empty, and a lookup needs an owned key.
        !self.once.is_empty() && self.once.contains(&(bound.clone(), *arguments))
    }
}

fn covers(grant: &Grant, bound: ApprovalBindingRef<'_>, pinned_at: Option<SystemTime>) -> bool {
    let given = ApprovalBindingRef::from(&grant.binding);
    let same_server = given.caller == bound.caller
        && given.client == bound.client
        && given.tool.server == bound.tool.server
        && given.identity == bound.identity;
    same_server
        && match grant.choice {
            ApprovalChoice::Tool => {
                given.tool == bound.tool && given.definition == bound.definition
            }
            // A definition pinned after the grant, new or changed, is not covered.
            ApprovalChoice::Server => {
                bound.tool.kind == CapabilityKind::Tool
                    && pinned_at.is_some_and(|at| to_millis(at) <= to_millis(grant.given_at))
            }
            ApprovalChoice::Once | ApprovalChoice::Deny => false,
        }
}

fn describe_grant(grant: &Grant) -> String {
    let what = match grant.choice {
        ApprovalChoice::Server => "this server",
        _ => "this tool",
    };
    format!("grant {} for {what}, given by {}", grant.id, grant.by)
}
