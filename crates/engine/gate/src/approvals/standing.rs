//! The grants as they stand, in memory: asked on every call, so without waiting or allocating.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use toolgate_model::{CapabilityId, CapabilityKind, Digest, ServerName};
use toolgate_store::{Bound, Choice, Grant};

/// What an approval is bound to, borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoundRef<'a> {
    /// Who calls: a name that is the same after a restart.
    pub caller: &'a str,
    /// With which client.
    pub client: &'a str,
    /// The tool.
    pub tool: &'a CapabilityId,
    /// What is started or reached under the server's name.
    pub identity: &'a Digest,
    /// The digest of the tool's definition.
    pub definition: &'a Digest,
}

impl BoundRef<'_> {
    /// The same, to keep.
    pub fn to_bound(&self) -> Bound {
        Bound {
            caller: self.caller.to_owned(),
            client: self.client.to_owned(),
            tool: self.tool.clone(),
            identity: *self.identity,
            definition: *self.definition,
        }
    }
}

impl<'a> From<&'a Bound> for BoundRef<'a> {
    fn from(bound: &'a Bound) -> Self {
        let Bound { caller, client, tool, identity, definition } = bound;
        Self { caller, client, tool, identity, definition }
    }
}

/// A grant that covers a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    /// Its id.
    pub id: Arc<str>,
    /// As it is told to people.
    pub told: Arc<str>,
}

/// All grants at one moment.
#[derive(Default)]
pub(super) struct Standing {
    for_good: HashMap<ServerName, Vec<(Grant, Granted)>>,
    once: HashSet<(Bound, Digest)>,
    unknown: bool,
}

impl FromIterator<Grant> for Standing {
    fn from_iter<I: IntoIterator<Item = Grant>>(grants: I) -> Self {
        let mut standing = Self::default();
        for grant in grants {
            match (grant.choice, grant.arguments_digest) {
                (Choice::Once, Some(arguments)) => {
                    standing.once.insert((grant.bound, arguments));
                }
                (Choice::Tool | Choice::Server, None) => {
                    let covering = Granted { id: (&*grant.id).into(), told: told(&grant).into() };
                    let server = grant.bound.tool.server.clone();
                    standing.for_good.entry(server).or_default().push((grant, covering));
                }
                // Nothing was granted; who knows what it means permits nothing by it.
                _ => {}
            }
        }
        standing
    }
}

impl Standing {
    /// What is granted cannot be told: nothing is.
    pub(super) fn unknown() -> Self {
        Self { unknown: true, ..Self::default() }
    }

    pub(super) fn is_unknown(&self) -> bool {
        self.unknown
    }

    pub(super) fn granted(
        &self,
        bound: BoundRef<'_>,
        pinned_at: Option<SystemTime>,
    ) -> Option<Granted> {
        let grants = self.for_good.get(&bound.tool.server)?;
        let (_, granted) = grants.iter().find(|(grant, _)| covers(grant, bound, pinned_at))?;
        Some(granted.clone())
    }

    /// Whether there may be a one-time grant for this call: the database knows.
    pub(super) fn knows_of_one(&self, bound: &Bound, arguments: &Digest) -> bool {
        // The set is nearly always empty, and a key must be made to ask it.
        !self.once.is_empty() && self.once.contains(&(bound.clone(), *arguments))
    }
}

fn covers(grant: &Grant, bound: BoundRef<'_>, pinned_at: Option<SystemTime>) -> bool {
    let given = BoundRef::from(&grant.bound);
    let same_server = given.caller == bound.caller
        && given.client == bound.client
        && given.tool.server == bound.tool.server
        && given.identity == bound.identity;
    same_server
        && match grant.choice {
            Choice::Tool => given.tool == bound.tool && given.definition == bound.definition,
            // What was pinned later, new or changed, was not there to be meant.
            Choice::Server => {
                bound.tool.kind == CapabilityKind::Tool
                    && pinned_at.is_some_and(|pinned| millis(pinned) <= millis(grant.given_at))
            }
            Choice::Once | Choice::Deny => false,
        }
}

/// As the store counts time.
fn millis(time: SystemTime) -> u128 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis()
}

fn told(grant: &Grant) -> String {
    let what = match grant.choice {
        Choice::Server => "this server",
        _ => "this tool",
    };
    format!("grant {} for {what}, given by {}", grant.id, grant.by)
}
