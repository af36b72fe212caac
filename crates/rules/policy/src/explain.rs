//! Explains a decision with every rule that matched.
//!
//! It checks all rules, not only those that could decide.

use toolgate_model::{ApprovalMode, ConfigScope, Effect, Origin};

use crate::condition::CallArguments;
use crate::decide::{DecisionStep, PolicyOutcome};
use crate::pattern::NamedCapability;
use crate::rule::Rule;
use crate::{Decision, DecisionReason, Policy, PolicyFacts, PolicyQuery};

/// The source of a rule or setting. Earlier layers take precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyLayer {
    /// The administrator of the machine: files of system scope.
    Admin,
    /// The declaration of the server: its `trust` and `approval`.
    Server,
    /// The user.
    User,
    /// A project file; it can only tighten.
    Project,
}

impl PolicyLayer {
    /// All layers, in order of precedence.
    pub const ALL: [Self; 4] = [Self::Admin, Self::Server, Self::User, Self::Project];

    /// Returns the layer as a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Server => "server",
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// A rule that matches the capability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleExplanation<'p> {
    /// The layer of the rule.
    pub layer: PolicyLayer,
    /// The effect.
    pub effect: Effect,
    /// The text as written.
    pub text: &'p str,
    /// Where it is declared.
    pub origin: &'p Origin,
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
    /// The step that decided, before taint or the lack of an approver tightened the decision.
    pub step: DecisionStep,
    /// The decision of that step; equals `decision` unless it was tightened.
    pub base_decision: Decision<'p>,
    /// All rules that match the capability, by layer.
    pub rules: Vec<RuleExplanation<'p>>,
}

/// A setting in the declaration of a server that affects a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclarationExplanation<'a> {
    /// The effect.
    pub effect: Effect,
    /// The setting as it would be written.
    pub text: String,
    /// Where it is declared.
    pub origin: &'a Origin,
    /// Whether it counts. The declaration of a project cannot allow.
    pub holds: bool,
    /// Whether it decided the call.
    pub decided: bool,
}

impl DecisionExplanation<'_> {
    /// Returns the settings of the server's declaration that affect the call, from the same facts.
    pub fn explain_declaration<'a>(
        &self,
        facts: &PolicyFacts<'a>,
    ) -> Vec<DeclarationExplanation<'a>> {
        let own = |origin: &Origin| origin.scope != ConfigScope::Project;
        let entry = facts.approval.map(|(approval, origin)| {
            let reads =
                matches!(approval, ApprovalMode::Auto | ApprovalMode::Writes) && facts.read_only;
            let allows = approval == ApprovalMode::Never || reads;
            let effect = if allows { Effect::Allow } else { Effect::Ask };
            let text = format!("approval = \"{}\"", approval.as_str());
            let decided = matches!(self.step, DecisionStep::EntryAsk | DecisionStep::EntryAllow);
            DeclarationExplanation { effect, text, origin, holds: !allows || own(origin), decided }
        });
        let trust = facts.trust.map(|origin| {
            let (text, decided) = ("trust = true".to_owned(), self.step == DecisionStep::Trust);
            DeclarationExplanation {
                effect: Effect::Allow,
                text,
                origin,
                holds: own(origin),
                decided,
            }
        });
        entry.into_iter().chain(trust).collect()
    }
}

impl Policy {
    /// Decides a call and explains the decision.
    pub fn explain(
        &self,
        query: &PolicyQuery<'_>,
        facts: &PolicyFacts<'_>,
    ) -> DecisionExplanation<'_> {
        let PolicyOutcome { step, base_decision: base, decision } = self.evaluate(query, facts);
        let named = NamedCapability::new(query.id, query.tags);
        let arguments = CallArguments::new(query.arguments);
        let about = self.rules().iter().filter(|rule| rule.is_about(&named));
        let mut rules: Vec<_> = about
            .map(|rule| RuleExplanation {
                layer: rule.layer,
                effect: rule.effect,
                text: &rule.text,
                origin: &rule.origin,
                holds: rule.precedence.is_some() && rule.holds(query, &arguments),
                decided: is_deciding_rule(rule, &base.reason),
            })
            .collect();
        rules.sort_by_key(|rule| rule.layer);
        DecisionExplanation { decision, step, base_decision: base, rules }
    }
}

/// Returns true if this rule decided.
fn is_deciding_rule(rule: &Rule, because: &DecisionReason<'_>) -> bool {
    match because {
        DecisionReason::Rule { text, .. } => std::ptr::eq(*text, rule.text.as_str()),
        _ => false,
    }
}
