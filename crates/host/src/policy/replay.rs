//! Replays recorded calls under other rules, to find which would be decided differently.
//!
//! The journal says how each call was decided and why. The rules of a plan say how it would be
//! decided now ([`DecisionOutcome`]). Decisions that no rule made (a block, an approval) stay as
//! they were, and calls to servers that are no longer declared are skipped.

use std::collections::HashSet;
use std::sync::Arc;

use toolgate_gate::{ApprovalContext, DecisionOutcome, names_capability};
use toolgate_model::{
    CapabilityId, CapabilityKind, ConfigScope, Effect, GovernanceSettings, Origin, ServerName,
    has_tag_word,
};
use toolgate_policy::{DecisionReasonKind, Policy, PolicyFacts, PolicyQuery};

use super::policy_for_entries;
use crate::audit::{DecidedCall, EntryEvent, JournalEntry};
use crate::{HostError, Plan};

/// The prefix of a grant's reason in the journal.
const GRANTED: &str = "grant ";

/// Replays recorded calls one by one.
pub struct PolicyReplay<'a> {
    plan: &'a Plan,
    governance: GovernanceSettings,
    policy: Policy,
    /// The calls whose first decision was replayed. Later decisions of a call follow from it.
    seen: HashSet<(Arc<str>, u64)>,
}

/// The outcome of replaying one journal entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplayOutcome {
    /// The call would be decided as before.
    Same,
    /// The call would be decided differently.
    Changed(Box<ChangedDecision>),
    /// Unknown, because the rules depend on arguments that the journal does not contain completely.
    Unclear,
    /// The server is no longer declared.
    Gone,
    /// The call was not decided by a rule.
    NoRule,
    /// The entry is not a decision about a call, or not the first one.
    Other,
}

/// A call that would be decided differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedDecision {
    /// The called capability.
    pub id: CapabilityId,
    /// The recorded effect.
    pub was: Effect,
    /// The recorded reason.
    pub was_because: String,
    /// The effect under the new rules.
    pub now: Effect,
    /// The detailed outcome under the new rules.
    pub outcome: DecisionOutcome,
    /// The reason under the new rules.
    pub now_because: String,
}

impl<'a> PolicyReplay<'a> {
    /// Creates a replay with these rules and the servers of this plan.
    pub fn new(plan: &'a Plan, governance: &GovernanceSettings) -> Self {
        let (policy, _) = Policy::compile(governance);
        let policy = policy_for_entries(&policy, &plan.entries);
        Self { plan, governance: governance.clone(), policy, seen: HashSet::new() }
    }

    /// Replays one journal entry.
    pub fn replay_entry(&mut self, entry: &JournalEntry) -> Result<ReplayOutcome, HostError> {
        let EntryEvent::Decided(decided) = &entry.event else { return Ok(ReplayOutcome::Other) };
        let Some(kind) = entry.kind else { return Ok(ReplayOutcome::Other) };
        if entry.call != 0 && !self.seen.insert((entry.chain.clone(), entry.call)) {
            return Ok(ReplayOutcome::Other);
        }
        let server = ServerName::new(&entry.server)?;
        Ok(self.decide(
            CapabilityId { server, kind, name: entry.name.as_str().into() },
            entry,
            decided,
        ))
    }

    fn decide(
        &self,
        id: CapabilityId,
        entry: &JournalEntry,
        decided: &DecidedCall,
    ) -> ReplayOutcome {
        let (reason, headless) = DecisionReasonKind::parse(&decided.because);
        let granted = decided.because.starts_with(GRANTED);
        if reason == DecisionReasonKind::Other && !granted {
            return ReplayOutcome::NoRule;
        }
        // The rules said `ask`, even if no person could be asked.
        let was = if headless { Effect::Ask } else { decided.effect };
        let Some(declared) = self.plan.entry(&id.server) else { return ReplayOutcome::Gone };
        let selection = &declared.spec.selection;
        let approval = match id.kind {
            CapabilityKind::Tool => {
                let own = selection.tools.get(&*id.name).and_then(|tool| tool.approval);
                own.or(selection.approval)
            }
            CapabilityKind::Method => selection.approval,
            _ => None,
        };
        // A project file cannot grant trust, so the trust comes from the user.
        let scope = match declared.origin.scope {
            ConfigScope::Project => ConfigScope::User,
            scope => scope,
        };
        let trusted = Origin { scope, ..declared.origin.clone() };
        let facts = PolicyFacts {
            grant: granted.then_some(decided.because.as_str()),
            trust: declared.spec.trust.then_some(&trusted),
            approval: approval.map(|approval| (approval, &declared.origin)),
            read_only: decided.read_only,
            tainted: reason == DecisionReasonKind::Taint,
            destructive: has_tag_word(&decided.tags, "destructive"),
            ..PolicyFacts::default()
        };
        let arguments = decided.arguments.as_deref().unwrap_or_default().as_bytes();
        let asked = PolicyQuery {
            id: &id,
            tags: &decided.tags,
            client: &entry.client,
            caller: &entry.caller,
            profile: &entry.profile,
            arguments,
        };
        let prepared = self.policy.prepare(&id, &decided.tags);
        // Capabilities that a method call names are decided too, and the journal does not say which
        // of them the server had at that time.
        let unknown = id.kind == CapabilityKind::Method && names_capability(arguments);
        if unknown || prepared.depends_on_arguments() && !decided.is_complete() {
            return ReplayOutcome::Unclear;
        }
        let now = prepared.decide(&asked, &facts);
        // The journal does not say whether the client shows forms; a person is asked either way.
        let asker = ApprovalContext {
            client: &entry.client,
            person: &entry.caller,
            shows_forms: true,
            is_attended: true,
        };
        let outcome =
            DecisionOutcome::of(&self.governance, now.effect, now.reason.is_explicit(), &asker);
        if outcome.effect() == was {
            return ReplayOutcome::Same;
        }
        let (now, now_because) = (outcome.effect(), now.reason.to_string());
        let was_because = decided.because.clone();
        let otherwise = ChangedDecision { id, was, was_because, now, outcome, now_because };
        ReplayOutcome::Changed(Box::new(otherwise))
    }
}
