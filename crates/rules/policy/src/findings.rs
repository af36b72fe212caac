//! Rules that do nothing, or not what they seem to: what `policy check` tells.

use std::collections::BTreeSet;

use toolgate_model::{CapabilityId, Effect, Origin, ServerName};

use crate::known::{Settled, settle};
use crate::pattern::{Kinds, Named, Reading};
use crate::rule::Rule;
use crate::{Layer, Policy};

/// Something that is to be told of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding<'p> {
    /// What.
    pub flaw: Flaw<'p>,
    /// What the rule does.
    pub effect: Effect,
    /// As it is written.
    pub text: &'p str,
    /// Where it stands.
    pub origin: &'p Origin,
}

/// What may be wrong with a rule that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw<'p> {
    /// It would allow, and stands in a project's file.
    OnlyTightens,
    /// It would allow, and may mean each of these.
    Ambiguous(Vec<String>),
    /// Another rule always decides before it.
    Unreachable {
        /// The other, as it is written.
        by: &'p str,
        /// Where that stands.
        origin: &'p Origin,
    },
    /// It is about no server there is.
    NoServer,
    /// Nothing that servers offered last is meant by it.
    NeverMatches,
}

impl Policy {
    /// What is to be told of the rules, given everything that is known to be offered. Whether a rule
    /// matches nothing is told only of servers in `listed`, whose offers are known.
    pub fn findings(
        &self,
        offered: &[(CapabilityId, Vec<String>)],
        listed: &BTreeSet<ServerName>,
    ) -> Vec<Finding<'_>> {
        let named: Vec<_> = offered.iter().map(|(id, tags)| Named::new(id, tags)).collect();
        let flawed = self.rules().iter().enumerate().filter_map(|(at, rule)| {
            let flaw = self
                .unsettled(rule)
                .or_else(|| self.shadowed(at, rule))
                .or_else(|| self.idle(rule, &named, listed))?;
            let (text, origin) = (&*rule.text, &rule.origin);
            Some(Finding { flaw, effect: rule.effect, text, origin })
        });
        flawed.collect()
    }

    fn unsettled(&self, rule: &Rule) -> Option<Flaw<'_>> {
        if rule.effect != Effect::Allow {
            return None;
        }
        if rule.layer == Layer::Project {
            return Some(Flaw::OnlyTightens);
        }
        match settle(&rule.written, self.known()) {
            Settled::Ambiguous(meanings) => Some(Flaw::Ambiguous(meanings)),
            Settled::Absent => Some(Flaw::NoServer),
            Settled::To(_) => None,
        }
    }

    /// A rule about the very same that always holds and comes first: of its place, or one that
    /// refuses.
    fn shadowed(&self, at: usize, rule: &Rule) -> Option<Flaw<'_>> {
        let place = rule.place?;
        let covers = |other: &Rule| covers(other, rule);
        let mut others = self.rules().iter().enumerate().filter(|(number, other)| {
            let first = other.place.is_some_and(|its| (its, *number) < (place, at));
            let decides = other.place == Some(place) || first_of_all(other, rule);
            first && decides && other.is_plain() && covers(other)
        });
        let (_, other) = others.next()?;
        Some(Flaw::Unreachable { by: &other.text, origin: &other.origin })
    }

    fn idle(
        &self,
        rule: &Rule,
        offered: &[Named<'_>],
        listed: &BTreeSet<ServerName>,
    ) -> Option<Flaw<'_>> {
        let known = self.known()?;
        if known.is_empty() || offered.iter().any(|named| rule.is_about(named)) {
            return None;
        }
        let about: Vec<_> = known.iter().filter(|server| rule.may_mean(server, None)).collect();
        if about.is_empty() {
            return Some(Flaw::NoServer);
        }
        let is_listed = about.iter().all(|server| listed.contains(*server));
        (is_listed && !may_mean_a_method(rule)).then_some(Flaw::NeverMatches)
    }
}

/// Whether one always decides before the other gets to speak: what refuses, and what asks before
/// what allows in the same layer.
fn first_of_all(other: &Rule, rule: &Rule) -> bool {
    let same = (other.layer == Layer::Admin) == (rule.layer == Layer::Admin);
    other.effect == Effect::Deny || (same && other.effect > rule.effect)
}

/// Whether every reading of one rule is among what another means. What allows means methods only
/// where it names them.
fn covers(wider: &Rule, narrower: &Rule) -> bool {
    let allows = wider.effect == Effect::Allow;
    narrower.written.readings.iter().all(|one| {
        let mut others = wider.written.readings.iter();
        others.any(|other| {
            let means = !allows || !one.names_methods() || other.names_methods();
            means && is_within(one, other)
        })
    })
}

/// Whether one reading means nothing that the other does not: told where it is plain, and not where
/// it takes thought.
fn is_within(one: &Reading, other: &Reading) -> bool {
    match (one, other) {
        (
            Reading::Pair { server, name, kinds },
            Reading::Pair { server: wide, name: any, kinds: all },
        ) => {
            let served = wide == server || wide.is_any() || fits(wide, server);
            let named = match (any, name) {
                (None, _) => true,
                (Some(any), Some(name)) => any == name || fits(any, name),
                (Some(_), None) => false,
            };
            served && named && all.contains(*kinds)
        }
        (Reading::Tag(parts), Reading::Tag(above)) => {
            above.len() <= parts.len()
                && above.iter().zip(parts).all(|(above, part)| above == part || fits(above, part))
        }
        (one, other) => one == other,
    }
}

fn fits(wide: &crate::glob::Glob, narrow: &crate::glob::Glob) -> bool {
    narrow.plain().is_some_and(|text| wide.fits(text))
}

/// Whether a rule can be about a method: no list holds those, so nobody knows what there is.
fn may_mean_a_method(rule: &Rule) -> bool {
    rule.pattern.readings.iter().any(|reading| match reading {
        Reading::Pair { name: Some(name), kinds: Kinds::Tools, .. } => {
            rule.effect != Effect::Allow && name.as_str().contains('/')
        }
        reading => reading.names_methods(),
    })
}
