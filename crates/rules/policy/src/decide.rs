//! The order of precedence. It is defined here and nowhere else.
//!
//! A new restriction goes above the steps that allow. A new reason to allow needs an explicit
//! position in this order.

use toolgate_model::{ApprovalMode, CapabilityKind, ConfigScope, Effect, Origin, PolicyMode};
use toolgate_wire::words;

use crate::rule::{Rule, RulePrecedence};
use crate::{Decision, DecisionExplanation, DecisionReason, PolicyFacts};

/// The settings that apply if no rule matches.
#[derive(Debug, Clone, Default)]
pub(crate) struct PolicyDefaults {
    pub mode: PolicyMode,
    pub mode_origin: Option<Origin>,
    pub yolo_floor: bool,
}

words! {
    /// The step of the order that decided a call.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum DecisionStep {
        /// The call is blocked, whatever rules allow.
        Block = "block",
        /// A rule denies.
        Deny = "deny rule",
        /// An administrator's rule asks.
        AdminAsk = "administrator's ask rule",
        /// An administrator's rule allows.
        AdminAllow = "administrator's allow rule",
        /// A grant from an earlier approval allows.
        Grant = "grant",
        /// The server's entry asks.
        EntryAsk = "server's entry asks",
        /// The server is trusted.
        Trust = "trust",
        /// The server's entry allows.
        EntryAllow = "server's entry allows",
        /// A user's or a project's rule asks.
        UserAsk = "ask rule",
        /// A user's rule allows.
        UserAllow = "allow rule",
        /// The capability is not a tool; only tools require approval by default.
        NoTool = "not a tool",
        /// The tool is built in and read-only.
        BuiltIn = "built in",
        /// The mode decides.
        Mode = "mode",
    }
}

/// Decides a call. `find` returns the first applicable rule of a precedence. The explanation does
/// not list rules yet.
pub(crate) fn evaluate<'p>(
    find: impl Fn(RulePrecedence) -> Option<&'p Rule>,
    settings: &'p PolicyDefaults,
    kind: CapabilityKind,
    facts: &PolicyFacts<'_>,
) -> DecisionExplanation<'p> {
    let (step, base) = decide_by_rules(find, settings, kind, facts);
    let mut decision = base.clone();
    if decision.effect == Effect::Allow && taint_requires_ask(settings, kind, facts) {
        decision = Decision { effect: Effect::Ask, reason: DecisionReason::Tainted };
    }
    DecisionExplanation { decision, step, base_decision: base, rules: Vec::new() }
}

fn decide_by_rules<'p>(
    find: impl Fn(RulePrecedence) -> Option<&'p Rule>,
    settings: &'p PolicyDefaults,
    kind: CapabilityKind,
    facts: &PolicyFacts<'_>,
) -> (DecisionStep, Decision<'p>) {
    let is_tool = is_call(kind);
    // In the mode `yolo` only administrators can require approval.
    let asks = settings.mode != PolicyMode::Full;
    let by = |step, effect, because| (step, Decision { effect, reason: because });
    let rule = |step, rule: &'p Rule| {
        by(step, rule.effect, DecisionReason::Rule { text: &rule.text, origin: &rule.origin })
    };
    if let Some(block) = facts.block {
        return by(DecisionStep::Block, Effect::Deny, DecisionReason::Blocked(block.to_owned()));
    }
    for (place, step) in [
        (RulePrecedence::Deny, DecisionStep::Deny),
        (RulePrecedence::AdminAsk, DecisionStep::AdminAsk),
        (RulePrecedence::AdminAllow, DecisionStep::AdminAllow),
    ] {
        if let Some(found) = find(place) {
            return rule(step, found);
        }
    }
    if let Some(grant) = facts.grant {
        return by(DecisionStep::Grant, Effect::Allow, DecisionReason::Granted(grant.to_owned()));
    }
    if let Some(decided) = is_tool.then(|| decide_by_declaration(facts, asks)).flatten() {
        return decided;
    }
    if let Some(found) = find(RulePrecedence::UserAsk).filter(|_| asks) {
        return rule(DecisionStep::UserAsk, found);
    }
    if let Some(found) = find(RulePrecedence::UserAllow) {
        return rule(DecisionStep::UserAllow, found);
    }
    if !is_tool {
        return by(DecisionStep::NoTool, Effect::Allow, DecisionReason::NotATool);
    }
    if facts.built_in && facts.read_only {
        return by(DecisionStep::BuiltIn, Effect::Allow, DecisionReason::BuiltIn);
    }
    let effect = if asks { Effect::Ask } else { Effect::Allow };
    by(
        DecisionStep::Mode,
        effect,
        DecisionReason::Mode(settings.mode, settings.mode_origin.as_ref()),
    )
}

/// Returns true for capabilities that can change something: tools and extension methods. Everything
/// else is read.
fn is_call(kind: CapabilityKind) -> bool {
    matches!(kind, CapabilityKind::Tool | CapabilityKind::Method)
}

/// Decides by the declaration of the server. Here, too, asking takes precedence over allowing.
fn decide_by_declaration<'p>(
    facts: &PolicyFacts<'_>,
    asks: bool,
) -> Option<(DecisionStep, Decision<'p>)> {
    let own = |origin: &&Origin| origin.scope != ConfigScope::Project;
    let entry = facts.approval.map(|(approval, origin)| {
        let reason = DecisionReason::Entry(approval, origin.clone());
        (Decision { effect: entry_effect(approval, facts), reason }, origin)
    });
    match (entry, facts.trust.filter(own)) {
        (Some((decision, _)), _) if asks && decision.effect == Effect::Ask => {
            Some((DecisionStep::EntryAsk, decision))
        }
        (_, Some(trust)) => {
            let reason = DecisionReason::Trusted(trust.clone());
            Some((DecisionStep::Trust, Decision { effect: Effect::Allow, reason }))
        }
        (Some((decision, origin)), None) if decision.effect == Effect::Allow && own(&origin) => {
            Some((DecisionStep::EntryAllow, decision))
        }
        _ => None,
    }
}

/// Returns what the `approval` of a server's entry says about a call.
pub(crate) fn entry_effect(approval: ApprovalMode, facts: &PolicyFacts<'_>) -> Effect {
    match approval {
        ApprovalMode::Never => Effect::Allow,
        ApprovalMode::Auto | ApprovalMode::Writes if facts.read_only => Effect::Allow,
        ApprovalMode::Always | ApprovalMode::Auto | ApprovalMode::Writes => Effect::Ask,
    }
}

/// Returns true if taint makes a call require approval. In the mode `yolo` this applies only to
/// destructive tools, and only if it is configured.
fn taint_requires_ask(
    settings: &PolicyDefaults,
    kind: CapabilityKind,
    facts: &PolicyFacts<'_>,
) -> bool {
    let floor = settings.yolo_floor && facts.destructive;
    is_call(kind) && facts.tainted && (settings.mode != PolicyMode::Full || floor)
}
