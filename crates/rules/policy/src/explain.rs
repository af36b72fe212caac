//! Explains a decision with every rule that matched.
//!
//! It checks all rules, not only those that could decide.

use toolgate_model::{ConfigScope, Effect, Origin};
use toolgate_wire::words;

use crate::condition::CallArguments;
use crate::decide::{DecisionStep, entry_effect};
use crate::pattern::NamedCapability;
use crate::{Decision, DecisionReason, Policy, PolicyFacts, PolicyQuery};

words! {
    /// The source of a rule or setting. Earlier layers take precedence.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum PolicyLayer {
        /// The administrator of the machine: files of system scope.
        Admin = "admin",
        /// The declaration of the server: its `trust` and `approval`.
        Server = "server",
        /// The user.
        User = "user",
        /// A project file; it can only tighten.
        Project = "project",
    }
}

/// A rule or setting that matches the capability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleExplanation {
    /// The layer it belongs to.
    pub layer: PolicyLayer,
    /// The effect.
    pub effect: Effect,
    /// The text as written.
    pub text: String,
    /// Where it is declared.
    pub origin: Origin,
    /// Whether it applies to this caller and these arguments, and counts at all.
    pub holds: bool,
    /// Whether it decided the call.
    pub decided: bool,
}

/// A decision with its explanation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionExplanation<'p> {
    /// The final decision.
    pub decision: Decision<'p>,
    /// The step that decided, before taint tightened the decision.
    pub step: DecisionStep,
    /// The decision of that step; equals `decision` unless it was tightened.
    pub base_decision: Decision<'p>,
    /// All rules and settings that match the capability, by layer.
    pub rules: Vec<RuleExplanation>,
}

/// Returns the settings of the server's declaration that affect a call. The declaration of a project
/// cannot allow.
fn explain_declaration<'a>(
    step: DecisionStep,
    facts: &PolicyFacts<'a>,
) -> impl Iterator<Item = RuleExplanation> + 'a {
    let setting = |effect: Effect, text: String, origin: &Origin, decided: bool| RuleExplanation {
        layer: PolicyLayer::Server,
        effect,
        text,
        origin: origin.clone(),
        holds: effect != Effect::Allow || origin.scope != ConfigScope::Project,
        decided,
    };
    let entry = facts.approval.map(|(approval, origin)| {
        let decided = matches!(step, DecisionStep::EntryAsk | DecisionStep::EntryAllow);
        let text = format!("approval = \"{}\"", approval.as_str());
        setting(entry_effect(approval, facts), text, origin, decided)
    });
    let trust = facts.trust.map(|origin| {
        setting(Effect::Allow, "trust = true".to_owned(), origin, step == DecisionStep::Trust)
    });
    entry.into_iter().chain(trust)
}

impl Policy {
    /// Decides a call and explains the decision.
    pub fn explain(
        &self,
        query: &PolicyQuery<'_>,
        facts: &PolicyFacts<'_>,
    ) -> DecisionExplanation<'_> {
        let explanation = self.evaluate(query, facts);
        let decider = match explanation.base_decision.reason {
            DecisionReason::Rule { text, .. } => Some(text),
            _ => None,
        };
        let named = NamedCapability::new(query.id, query.tags);
        let arguments = CallArguments::new(query.arguments);
        let about = self.rules.iter().filter(|rule| rule.is_about(&named));
        let mut rules: Vec<_> = about
            .map(|rule| RuleExplanation {
                layer: rule.layer,
                effect: rule.effect,
                text: rule.text.clone(),
                origin: rule.origin.clone(),
                holds: rule.precedence.is_some() && rule.holds(query, &arguments),
                decided: decider.is_some_and(|text| std::ptr::eq(text, rule.text.as_str())),
            })
            .chain(explain_declaration(explanation.step, facts))
            .collect();
        rules.sort_by_key(|rule| rule.layer);
        DecisionExplanation { rules, ..explanation }
    }
}
