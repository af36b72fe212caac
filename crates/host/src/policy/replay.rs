//! Past calls under other rules: which of them would now be decided otherwise.
//!
//! The journal says how each call was decided and because of what; the rules say what they would
//! decide now. What no rule decides (a block, somebody's answer) is taken over as it was, and a call
//! to a server that is not declared any more is left out.

use std::collections::HashSet;
use std::sync::Arc;

use toolgate_model::{
    CapabilityId, CapabilityKind, Digest, Effect, Governance, Origin, Scope, ServerName, says,
};
use toolgate_policy::{Asked, Facts, Policy, Reason};

use crate::audit::{Decided, Entry, Happened};
use crate::{HostError, Plan};

/// What a reason ends with where the client approves by itself.
const LEFT_TO_CLIENT: &str = "; its client approves by itself";
/// What the reason of a grant begins with.
const GRANTED: &str = "grant ";

/// Past calls, one after the other.
pub struct Replay<'a> {
    plan: &'a Plan,
    policy: Policy,
    /// The calls whose first decision was looked at: what follows it is an answer to it.
    seen: HashSet<(Arc<str>, u64)>,
}

/// What became of one past call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replayed {
    /// It would be decided as it was.
    Same,
    /// It would not.
    Otherwise(Box<Otherwise>),
    /// It cannot be told: the rules look at arguments that are not on record as they were.
    Unclear,
    /// Its server is not declared any more.
    Gone,
    /// It was decided by something that is no rule.
    NoRule,
    /// It is no decision about a call, or not the first.
    Other,
}

/// A call that would be decided otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Otherwise {
    /// What was called.
    pub id: CapabilityId,
    /// What was decided, by the rules of then.
    pub was: Effect,
    /// Because of what.
    pub was_because: String,
    /// What would be decided now.
    pub now: Effect,
    /// Because of what.
    pub now_because: String,
}

impl<'a> Replay<'a> {
    /// Decides by these rules, among the servers of this plan.
    pub fn new(plan: &'a Plan, governance: &Governance) -> Self {
        let (policy, _) = Policy::of(governance);
        let policy = policy.knowing(plan.entries.iter().map(|entry| &entry.spec.name));
        Self { plan, policy, seen: HashSet::new() }
    }

    /// Looks at one record.
    pub fn look(&mut self, entry: &Entry) -> Result<Replayed, HostError> {
        let Happened::Decided(decided) = &entry.event else { return Ok(Replayed::Other) };
        let Some(kind) = entry.kind else { return Ok(Replayed::Other) };
        if entry.call != 0 && !self.seen.insert((entry.chain.clone(), entry.call)) {
            return Ok(Replayed::Other);
        }
        let server = ServerName::new(&entry.server)?;
        Ok(self.decide(
            CapabilityId { server, kind, name: entry.name.as_str().into() },
            entry,
            decided,
        ))
    }

    fn decide(&self, id: CapabilityId, entry: &Entry, decided: &Decided) -> Replayed {
        let Some(was) = Past::of(decided) else { return Replayed::NoRule };
        let Some(declared) = self.plan.entry(&id.server) else { return Replayed::Gone };
        let selection = &declared.spec.selection;
        let own = selection.tools.get(&*id.name).and_then(|tool| tool.approval);
        let approval = own.or(selection.approval).filter(|_| id.kind == CapabilityKind::Tool);
        // A project's file cannot trust: it is the user's word, then.
        let scope = match declared.origin.scope {
            Scope::Project => Scope::User,
            scope => scope,
        };
        let trusted = Origin { scope, ..declared.origin.clone() };
        let facts = Facts {
            grant: was.granted.then_some(decided.because.as_str()),
            trust: declared.spec.trust.then_some(&trusted),
            approval: approval.map(|approval| (approval, &declared.origin)),
            read_only: decided.read_only,
            tainted: was.tainted,
            destructive: says(&decided.tags, "destructive"),
            can_ask: true,
            ..Facts::default()
        };
        let arguments = decided.arguments.as_deref().unwrap_or_default().as_bytes();
        let asked = Asked {
            id: &id,
            tags: &decided.tags,
            client: &entry.client,
            profile: &entry.profile,
            arguments,
        };
        let prepared = self.policy.prepare(&id, &decided.tags);
        if prepared.looks_at_arguments() && !is_whole(decided) {
            return Replayed::Unclear;
        }
        let now = prepared.decide(&asked, &facts);
        if now.effect == was.effect {
            return Replayed::Same;
        }
        let (now, now_because) = (now.effect, now.because.to_string());
        let (was, was_because) = (was.effect, decided.because.clone());
        Replayed::Otherwise(Box::new(Otherwise { id, was, was_because, now, now_because }))
    }
}

/// Whether the arguments are on record as they were sent: nothing was too long or hidden.
fn is_whole(decided: &Decided) -> bool {
    match (&decided.arguments, &decided.arguments_digest) {
        (Some(arguments), Some(digest)) => Digest::of(arguments.as_bytes()) == *digest,
        (arguments, None) => arguments.is_some(),
        (None, Some(_)) => false,
    }
}

/// What the rules of then said, as far as the record tells.
struct Past {
    effect: Effect,
    granted: bool,
    tainted: bool,
}

impl Past {
    /// None, if no rule said anything.
    fn of(decided: &Decided) -> Option<Self> {
        let left = decided.because.ends_with(LEFT_TO_CLIENT);
        let (reason, headless) = Reason::read(&decided.because);
        let granted = decided.because.starts_with(GRANTED);
        // Who is asked, and whether anybody can be, is no matter of rules.
        let effect = if left || headless { Effect::Ask } else { decided.effect };
        (reason != Reason::Other || granted).then_some(Self {
            effect,
            granted,
            tainted: reason == Reason::Taint,
        })
    }
}
