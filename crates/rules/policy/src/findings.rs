//! Finds rules that have no effect or not the apparent one, for `policy check`.

use std::collections::BTreeSet;

use toolgate_model::{CapabilityId, Effect, Origin, ServerName};

use crate::pattern::{CapabilityKinds, NamedCapability, PatternReading};
use crate::resolution::{PatternResolution, resolve};
use crate::rule::Rule;
use crate::{Policy, PolicyLayer};

/// A problem with a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFinding<'p> {
    /// The problem.
    pub flaw: RuleFlaw<'p>,
    /// The effect of the rule.
    pub effect: Effect,
    /// The text of the rule as written.
    pub text: &'p str,
    /// Where the rule is declared.
    pub origin: &'p Origin,
}

/// A problem with a valid rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleFlaw<'p> {
    /// It would allow, but is in a project file.
    OnlyTightens,
    /// It would allow, but is ambiguous between these.
    Ambiguous(Vec<String>),
    /// Another rule always decides before it.
    Unreachable {
        /// The text of the other rule.
        by: &'p str,
        /// Where the other rule is declared.
        origin: &'p Origin,
    },
    /// It matches no declared server.
    NoServer,
    /// It matches nothing that servers offered last.
    NeverMatches,
}

impl Policy {
    /// Returns the problems of all rules, given everything that servers are known to offer. A rule
    /// without matches is reported only for servers in `listed`, whose offers are known.
    pub fn findings(
        &self,
        offered: &[(CapabilityId, Vec<String>)],
        listed: &BTreeSet<ServerName>,
    ) -> Vec<RuleFinding<'_>> {
        let named: Vec<_> =
            offered.iter().map(|(id, tags)| NamedCapability::new(id, tags)).collect();
        let flawed = self.rules.iter().enumerate().filter_map(|(at, rule)| {
            let flaw = self
                .find_unresolved(rule)
                .or_else(|| self.find_shadowing(at, rule))
                .or_else(|| self.find_unmatched(rule, &named, listed))?;
            let (text, origin) = (&*rule.text, &rule.origin);
            Some(RuleFinding { flaw, effect: rule.effect, text, origin })
        });
        flawed.collect()
    }

    fn find_unresolved(&self, rule: &Rule) -> Option<RuleFlaw<'_>> {
        if rule.effect != Effect::Allow {
            return None;
        }
        if rule.layer == PolicyLayer::Project {
            return Some(RuleFlaw::OnlyTightens);
        }
        match resolve(&rule.parsed, self.known_servers.as_deref()) {
            PatternResolution::Ambiguous(meanings) => Some(RuleFlaw::Ambiguous(meanings)),
            PatternResolution::Absent => Some(RuleFlaw::NoServer),
            PatternResolution::Resolved(_) => None,
        }
    }

    /// Finds an unconditional rule with the same subject that always comes first.
    fn find_shadowing(&self, at: usize, rule: &Rule) -> Option<RuleFlaw<'_>> {
        let place = rule.precedence?;
        let covers = |other: &Rule| covers(other, rule);
        let mut others = self.rules.iter().enumerate().filter(|(number, other)| {
            let first = other.precedence.is_some_and(|its| (its, *number) < (place, at));
            let decides = other.precedence == Some(place) || takes_precedence(other, rule);
            first && decides && other.is_unconditional() && covers(other)
        });
        let (_, other) = others.next()?;
        Some(RuleFlaw::Unreachable { by: &other.text, origin: &other.origin })
    }

    fn find_unmatched(
        &self,
        rule: &Rule,
        offered: &[NamedCapability<'_>],
        listed: &BTreeSet<ServerName>,
    ) -> Option<RuleFlaw<'_>> {
        let known = self.known_servers.as_deref()?;
        if known.is_empty() || offered.iter().any(|named| rule.is_about(named)) {
            return None;
        }
        let about: Vec<_> =
            known.iter().filter(|server| rule.may_match_server(server, None)).collect();
        if about.is_empty() {
            return Some(RuleFlaw::NoServer);
        }
        let is_listed = about.iter().all(|server| listed.contains(*server));
        (is_listed && !may_match_method(rule)).then_some(RuleFlaw::NeverMatches)
    }
}

/// Returns true if one rule always decides before the other: a deny rule, or in the same layer the
/// stricter rule.
fn takes_precedence(other: &Rule, rule: &Rule) -> bool {
    let same = (other.layer == PolicyLayer::Admin) == (rule.layer == PolicyLayer::Admin);
    other.effect == Effect::Deny || (same && other.effect > rule.effect)
}

/// Returns true if one rule covers every reading of another. A rule that allows covers methods only
/// if it names them.
fn covers(wider: &Rule, narrower: &Rule) -> bool {
    let allows = wider.effect == Effect::Allow;
    narrower.parsed.readings.iter().all(|one| {
        let mut others = wider.parsed.readings.iter();
        others.any(|other| {
            let means = !allows || !one.names_methods() || other.names_methods();
            means && is_within(one, other)
        })
    })
}

/// Returns true if one reading covers another. Detects the obvious cases only.
fn is_within(one: &PatternReading, other: &PatternReading) -> bool {
    match (one, other) {
        (
            PatternReading::Pair { server, name, kinds },
            PatternReading::Pair { server: wide, name: any, kinds: all },
        ) => {
            let named = match (any, name) {
                (None, _) => true,
                (Some(any), Some(name)) => glob_covers(any, name),
                (Some(_), None) => false,
            };
            (wide.is_any() || glob_covers(wide, server)) && named && all.contains(*kinds)
        }
        (PatternReading::Tag(parts), PatternReading::Tag(above)) => {
            let mut pairs = above.iter().zip(parts);
            above.len() <= parts.len() && pairs.all(|(above, part)| glob_covers(above, part))
        }
        (one, other) => one == other,
    }
}

fn glob_covers(wide: &crate::glob::Glob, narrow: &crate::glob::Glob) -> bool {
    wide == narrow || narrow.as_literal().is_some_and(|text| wide.matches(text))
}

/// Returns true if a rule can match a method. Servers do not list methods, so it is unknown which
/// exist.
fn may_match_method(rule: &Rule) -> bool {
    rule.pattern.readings.iter().any(|reading| match reading {
        PatternReading::Pair { name: Some(name), kinds: CapabilityKinds::Tools, .. } => {
            rule.effect != Effect::Allow && name.as_str().contains('/')
        }
        reading => reading.names_methods(),
    })
}
