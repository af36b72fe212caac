//! Past calls under other rules: which of them would now be decided otherwise.
//!
//! The journal says how each call was decided and because of what; the rules of now say what would
//! become of it (`Outcome`, as the gate has it). What no rule decides (a block, somebody's answer) is taken over as it was, and a call
//! to a server that is not declared any more is left out.

use std::collections::HashSet;
use std::sync::Arc;

use toolgate_gate::{Asker, Outcome, names_something};
use toolgate_model::{
    CapabilityId, CapabilityKind, Effect, Governance, Origin, Scope, ServerName, says,
};
use toolgate_policy::{Asked, Facts, Policy, Reason};

use super::rules_among;
use crate::audit::{Decided, Entry, Happened};
use crate::{HostError, Plan};

/// What the reason of a grant begins with.
const GRANTED: &str = "grant ";

/// Past calls, one after the other.
pub struct Replay<'a> {
    plan: &'a Plan,
    governance: Governance,
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
    /// What its caller met, by the rules of then.
    pub was: Effect,
    /// Because of what.
    pub was_because: String,
    /// What its caller would meet now.
    pub now: Effect,
    /// The same more exactly.
    pub outcome: Outcome,
    /// Because of what.
    pub now_because: String,
}

impl<'a> Replay<'a> {
    /// Decides by these rules, among the servers of this plan.
    pub fn new(plan: &'a Plan, governance: &Governance) -> Self {
        let (policy, _) = Policy::of(governance);
        let policy = rules_among(&policy, &plan.entries);
        Self { plan, governance: governance.clone(), policy, seen: HashSet::new() }
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
        let approval = match id.kind {
            CapabilityKind::Tool => {
                let own = selection.tools.get(&*id.name).and_then(|tool| tool.approval);
                own.or(selection.approval)
            }
            CapabilityKind::Method => selection.approval,
            _ => None,
        };
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
            caller: &entry.caller,
            profile: &entry.profile,
            arguments,
        };
        let prepared = self.policy.prepare(&id, &decided.tags);
        // What a method names is decided on, too, and which of that its server had then is not on
        // record.
        let unknown = id.kind == CapabilityKind::Method && names_something(arguments);
        if unknown || prepared.looks_at_arguments() && !decided.is_whole() {
            return Replayed::Unclear;
        }
        let now = prepared.decide(&asked, &facts);
        // Whether its client shows forms is not on record; somebody is asked either way.
        let asker = Asker {
            client: &entry.client,
            person: &entry.caller,
            shows_forms: true,
            is_attended: true,
        };
        let outcome = Outcome::of(&self.governance, now.effect, now.because.is_written(), &asker);
        if outcome.effect() == was.effect {
            return Replayed::Same;
        }
        let (now, now_because) = (outcome.effect(), now.because.to_string());
        let (was, was_because) = (was.effect, decided.because.clone());
        let otherwise = Otherwise { id, was, was_because, now, outcome, now_because };
        Replayed::Otherwise(Box::new(otherwise))
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
        let (reason, headless) = Reason::read(&decided.because);
        let granted = decided.because.starts_with(GRANTED);
        // Whether somebody was there to be asked is no matter of rules.
        let effect = if headless { Effect::Ask } else { decided.effect };
        (reason != Reason::Other || granted).then_some(Self {
            effect,
            granted,
            tainted: reason == Reason::Taint,
        })
    }
}
