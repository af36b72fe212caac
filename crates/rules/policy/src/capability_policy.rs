//! The rules that can match one capability: collected once, evaluated at every call.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

use toolgate_model::{CapabilityId, CapabilityKind};

use crate::condition::CallArguments;
use crate::decide::{PolicyDefaults, evaluate};
use crate::pattern_index::RuleNumbers;
use crate::prefilter::RulePrefilter;
use crate::rule::{Rule, RulePrecedence};
use crate::{Decision, PolicyFacts, PolicyQuery};

/// The rules that can match one capability, ready to decide its calls.
#[derive(Debug, Clone)]
pub struct CapabilityRules {
    /// The rules, ordered by precedence.
    rules: Vec<Arc<Rule>>,
    /// The end of each precedence in `rules`.
    ends: [u32; RulePrecedence::COUNT],
    prefilter: RulePrefilter,
    settings: Arc<PolicyDefaults>,
    kind: CapabilityKind,
}

impl CapabilityRules {
    pub(crate) fn new(
        id: &CapabilityId,
        rules: impl Iterator<Item = Arc<Rule>>,
        settings: &Arc<PolicyDefaults>,
    ) -> Self {
        let mut lists: [Vec<Arc<Rule>>; RulePrecedence::COUNT] = Default::default();
        for rule in rules {
            let Some(place) = rule.precedence else { continue };
            let list = &mut lists[place as usize];
            // No rule after an unconditional one can decide.
            if !list.last().is_some_and(|last| last.is_unconditional()) {
                list.push(rule);
            }
        }
        let mut end = 0;
        let ends = lists.each_ref().map(|list| {
            end += u32::try_from(list.len()).unwrap_or(u32::MAX);
            end
        });
        let rules: Vec<_> = lists.into_iter().flatten().collect();
        let prefilter = RulePrefilter::from_rules(rules.iter().map(AsRef::as_ref));
        Self { rules, ends, prefilter, settings: Arc::clone(settings), kind: id.kind }
    }

    /// Decides a call of the capability it was prepared for. It ignores the identity and tags in
    /// the query.
    pub fn decide(&self, query: &PolicyQuery<'_>, facts: &PolicyFacts<'_>) -> Decision<'_> {
        let (arguments, candidates) = (CallArguments::new(query.arguments), OnceCell::new());
        let find = |place| {
            let rules = self.rule_range(place);
            let find = || self.prefilter.candidates(query, &arguments);
            // Most capabilities have few rules, so the arguments are often not needed.
            let candidates = (!rules.is_empty()).then(|| candidates.get_or_init(find))?;
            self.find_rule(rules, candidates.as_ref(), query, &arguments)
        };
        evaluate(find, &self.settings, self.kind, facts).decision
    }

    fn find_rule<'p: 'a, 'a>(
        &'p self,
        rules: Range<u32>,
        candidates: Option<&RuleNumbers>,
        query: &PolicyQuery<'_>,
        arguments: &CallArguments<'a>,
    ) -> Option<&'p Rule> {
        let holds = |rule: &&'p Rule| rule.holds(query, arguments);
        match candidates {
            None => rules.filter_map(|number| self.rule(number)).find(holds),
            Some(found) => {
                let always = self.find_in_range(&self.prefilter.always, &rules, holds);
                let before = rules.start..always.unwrap_or(rules.end);
                let found = self.find_in_range(found, &before, holds);
                found.or(always).and_then(|number| self.rule(number))
            }
        }
    }

    /// Returns the numbers of the rules of one precedence.
    fn rule_range(&self, place: RulePrecedence) -> Range<u32> {
        let end = |place: usize| self.ends.get(place).copied().unwrap_or_default();
        let place = place as usize;
        place.checked_sub(1).map_or(0, end)..end(place)
    }

    fn rule(&self, number: u32) -> Option<&Rule> {
        self.rules.get(usize::try_from(number).ok()?).map(AsRef::as_ref)
    }

    /// Returns the first of these sorted numbers that is in a range and whose rule applies.
    fn find_in_range<'p>(
        &'p self,
        numbers: &[u32],
        range: &Range<u32>,
        holds: impl Fn(&&'p Rule) -> bool,
    ) -> Option<u32> {
        let from = numbers.partition_point(|number| *number < range.start);
        let inside = numbers[from..].iter().copied().take_while(|number| *number < range.end);
        inside.into_iter().find(|number| self.rule(*number).as_ref().is_some_and(&holds))
    }

    /// Returns true if a decision can depend on the arguments.
    pub fn depends_on_arguments(&self) -> bool {
        self.rules.iter().any(|rule| !rule.conditions.is_empty())
    }
}
