//! The rules of all files, combined.
//!
//! This module orders the rules of different scopes: a project file can only tighten, whatever the
//! config reader accepts.

use std::collections::BTreeSet;
use std::sync::Arc;

use toolgate_model::{
    CapabilityId, ConfigScope, Effect, GovernanceSettings, Origin, PolicyMode, RuleSet, ServerName,
};

use crate::condition::CallArguments;
use crate::decide::{PolicyDefaults, evaluate};
use crate::pattern::{NamedCapability, RulePattern};
use crate::resolution::{PatternResolution, resolve};
use crate::rule::{MatchableClientNames, Rule, RulePrecedence};
use crate::rule_index::RuleIndex;
use crate::{
    CapabilityRules, Decision, DecisionExplanation, InvalidRule, PolicyFacts, PolicyLayer,
    PolicyQuery,
};

/// All rules, ready to decide. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    pub(crate) rules: Arc<[Arc<Rule>]>,
    index: Arc<RuleIndex>,
    settings: Arc<PolicyDefaults>,
    pub(crate) known_servers: Option<Arc<BTreeSet<ServerName>>>,
    /// Servers that no rule can allow, because a project file declares them.
    proposed: Arc<BTreeSet<ServerName>>,
    /// Whether any rule denies something.
    pub has_deny_rules: bool,
}

impl Policy {
    /// Compiles all rules and returns the problems found.
    ///
    /// The policy does not know the servers yet. Until [`Policy::with_servers`] names them, an
    /// allow rule that joins the names of a server and a tool allows nothing.
    pub fn compile(governance: &GovernanceSettings) -> (Self, Vec<InvalidRule>) {
        let (mut rules, mut bad) = (Vec::new(), Vec::new());
        for set in &governance.rules {
            for (effect, written) in &set.rules {
                let (rule, wrong) = Rule::compile(set, *effect, written, governance.posture);
                rules.extend(rule);
                bad.extend(wrong);
            }
        }
        // If several rules say the same, the administrator's is reported.
        rules.sort_by_key(|rule| rule.layer != PolicyLayer::Admin);
        let (mode, mode_at) = effective_mode(&governance.rules);
        let settings =
            PolicyDefaults { mode, mode_origin: mode_at, yolo_floor: governance.yolo_floor };
        (Self::assemble(rules, Arc::new(settings), None), bad)
    }

    /// Returns the policy for these servers: all that are declared, whether usable or not. They
    /// determine what rules mean, so call this again when servers are added or removed.
    #[must_use]
    pub fn with_servers<'a>(&self, servers: impl IntoIterator<Item = &'a ServerName>) -> Self {
        let known = Arc::new(servers.into_iter().cloned().collect());
        let rules = self.rules.iter().map(|rule| Rule::clone(rule)).collect();
        let proposed = Arc::clone(&self.proposed);
        Self { proposed, ..Self::assemble(rules, Arc::clone(&self.settings), Some(known)) }
    }

    /// Returns the policy with these servers marked as declared by a project file. An allow rule
    /// refers to what the user or the administrator declares, so none covers them. Deny and ask
    /// rules refer to the name and still apply.
    #[must_use]
    pub fn with_proposed_servers<'a>(
        &self,
        servers: impl IntoIterator<Item = &'a ServerName>,
    ) -> Self {
        Self { proposed: Arc::new(servers.into_iter().cloned().collect()), ..self.clone() }
    }

    /// Returns the rules that can match none of these servers, given their names and all tags that
    /// their capabilities can have.
    pub fn unused_rules(
        &self,
        servers: &[(&ServerName, Vec<String>)],
    ) -> Vec<(Effect, &str, &Origin)> {
        let means = |rule: &Rule| {
            servers.iter().any(|(server, tags)| rule.may_match_server(server, Some(tags)))
        };
        let rules = self.rules.iter().filter(|rule| rule.precedence.is_some() && !means(rule));
        rules.map(|rule| (rule.effect, &*rule.text, &rule.origin)).collect()
    }

    /// Returns the rules that allow something on a server with these tags, as written.
    pub fn allow_rules_for(&self, server: &ServerName, tags: &[String]) -> Vec<&str> {
        let rules = self.rules.iter().filter(|rule| rule.effect == Effect::Allow);
        let rules = rules
            .filter(|rule| rule.precedence.is_some() && rule.may_match_server(server, Some(tags)));
        rules.map(|rule| &*rule.text).collect()
    }

    fn assemble(
        mut rules: Vec<Rule>,
        settings: Arc<PolicyDefaults>,
        known: Option<Arc<BTreeSet<ServerName>>>,
    ) -> Self {
        for rule in rules.iter_mut().filter(|rule| rule.effect == Effect::Allow) {
            rule.pattern = match resolve(&rule.parsed, known.as_deref()) {
                PatternResolution::Resolved(pattern) => pattern,
                PatternResolution::Absent | PatternResolution::Ambiguous(_) => {
                    RulePattern { readings: Vec::new() }
                }
            };
        }
        let index = Arc::new(RuleIndex::of(rules.iter()));
        let denies = rules.iter().any(|rule| rule.precedence == Some(RulePrecedence::Deny));
        let (rules, proposed) = (rules.into_iter().map(Arc::new).collect(), Arc::default());
        Self { rules, index, settings, known_servers: known, proposed, has_deny_rules: denies }
    }

    /// Collects the rules for one capability.
    pub fn prepare(&self, id: &CapabilityId, tags: &[String]) -> CapabilityRules {
        let named = NamedCapability::new(id, tags);
        CapabilityRules::new(id, self.rules_about(&named).cloned(), &self.settings)
    }

    /// Returns the rule that denies a capability whatever its arguments, for everyone with a
    /// profile or for this client.
    pub fn always_denies(
        &self,
        id: &CapabilityId,
        tags: &[String],
        profile: &str,
        client: Option<MatchableClientNames<'_>>,
    ) -> Option<(&str, &Origin)> {
        if !self.has_deny_rules {
            return None;
        }
        let named = NamedCapability::new(id, tags);
        let mut rules = self.rules_about(&named);
        let rule = rules.find(|rule| {
            rule.precedence == Some(RulePrecedence::Deny)
                && rule.conditions.is_empty()
                && rule.profile.as_ref().is_none_or(|wanted| wanted.matches(profile))
                && rule
                    .client
                    .as_ref()
                    .is_none_or(|wanted| client.is_some_and(|names| wanted.matches(names)))
        })?;
        Some((&rule.text, &rule.origin))
    }

    /// Returns true if a rule denies something to some clients and not to others, whatever the
    /// arguments.
    pub fn has_client_deny_rules(&self) -> bool {
        let refuses = |rule: &Arc<Rule>| {
            rule.precedence == Some(RulePrecedence::Deny) && rule.conditions.is_empty()
        };
        self.has_deny_rules && self.rules.iter().any(|rule| refuses(rule) && rule.client.is_some())
    }

    /// Decides a call.
    pub fn decide(&self, query: &PolicyQuery<'_>, facts: &PolicyFacts<'_>) -> Decision<'_> {
        self.evaluate(query, facts).decision
    }

    pub(crate) fn evaluate(
        &self,
        query: &PolicyQuery<'_>,
        facts: &PolicyFacts<'_>,
    ) -> DecisionExplanation<'_> {
        let named = NamedCapability::new(query.id, query.tags);
        let about: Vec<_> = self.rules_about(&named).collect();
        let arguments = CallArguments::new(query.arguments);
        let find = |place| {
            let mut rules = about.iter().filter(|rule| rule.precedence == Some(place));
            rules.find(|rule| rule.holds(query, &arguments)).map(|rule| &***rule)
        };
        evaluate(find, &self.settings, query.id.kind, facts)
    }

    /// Returns the rules that cover a capability, in order.
    fn rules_about(&self, named: &NamedCapability<'_>) -> impl Iterator<Item = &Arc<Rule>> {
        let numbers = self.index.find(named).into_iter();
        let rules = numbers.filter_map(|number| self.rules.get(usize::try_from(number).ok()?));
        let proposed = self.proposed.contains(&named.id.server);
        rules
            .filter(move |rule| rule.is_about(named) && !(proposed && rule.effect == Effect::Allow))
    }

    /// Returns the mode, and where it is set, if it is.
    pub fn mode(&self) -> (PolicyMode, Option<&Origin>) {
        (self.settings.mode, self.settings.mode_origin.as_ref())
    }
}

/// Returns the mode: that of the nearest user file, unless the administrator or a project sets a
/// stricter one.
fn effective_mode(sets: &[RuleSet]) -> (PolicyMode, Option<Origin>) {
    let said = |scopes: &'static [ConfigScope]| {
        let of = sets.iter().filter(|set| scopes.contains(&set.origin.scope));
        of.filter_map(|set| Some((set.mode?, Some(set.origin.clone()))))
    };
    let user = said(&[ConfigScope::User, ConfigScope::BuiltIn]).next();
    let admin = said(&[ConfigScope::System]).next();
    let own = match (admin, user) {
        (Some(admin), Some(user)) => stricter(admin, user),
        (admin, user) => admin.or(user).unwrap_or_default(),
    };
    said(&[ConfigScope::Project]).fold(own, |mode, project| match (&mode, &project) {
        // The same as the default, but now explicit.
        ((PolicyMode::Ask, None), (PolicyMode::Ask, _)) => project,
        _ => stricter(mode, project),
    })
}

/// Returns the stricter of two modes, or the first if they are equal.
fn stricter(
    one: (PolicyMode, Option<Origin>),
    other: (PolicyMode, Option<Origin>),
) -> (PolicyMode, Option<Origin>) {
    let strictness = |mode: PolicyMode| match mode {
        PolicyMode::Full => 0,
        PolicyMode::Ask => 1,
        PolicyMode::Limited => 2,
    };
    if strictness(other.0) > strictness(one.0) { other } else { one }
}
