//! The valid grants in memory. Every call looks here, so lookups neither wait nor allocate.

use std::collections::HashMap;
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

/// All lasting grants at one moment.
#[derive(Default)]
pub(super) struct GrantIndex {
    /// The grants of each server, with their descriptions for people.
    for_good: HashMap<ServerName, Vec<(Grant, Arc<str>)>>,
    pub(super) is_unknown: bool,
}

impl FromIterator<Grant> for GrantIndex {
    fn from_iter<I: IntoIterator<Item = Grant>>(grants: I) -> Self {
        let mut standing = Self::default();
        for grant in grants {
            let lasts = matches!(grant.choice, ApprovalChoice::Tool | ApprovalChoice::Server);
            // A one-time grant is used up in the database, so it is not kept here.
            if lasts && grant.arguments_digest.is_none() {
                let description = describe_grant(&grant).into();
                let server = grant.binding.tool.server.clone();
                standing.for_good.entry(server).or_default().push((grant, description));
            }
        }
        standing
    }
}

impl GrantIndex {
    /// Returns an index for unreadable grants. It grants nothing.
    pub(super) fn unknown() -> Self {
        Self { is_unknown: true, ..Self::default() }
    }

    pub(super) fn find(
        &self,
        bound: ApprovalBindingRef<'_>,
        pinned_at: Option<SystemTime>,
    ) -> Option<Arc<str>> {
        let grants = self.for_good.get(&bound.tool.server)?;
        let (_, description) = grants.iter().find(|(grant, _)| covers(grant, bound, pinned_at))?;
        Some(description.clone())
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
