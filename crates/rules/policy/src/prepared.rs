//! What can matter for one capability: found once, asked at every call.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

use toolgate_model::{CapabilityId, CapabilityKind};

use crate::condition::Arguments;
use crate::decide::{Settings, verdict};
use crate::rule::{Place, Rule};
use crate::screen::{Candidates, Screen};
use crate::{Asked, Decision, Facts};

/// Rules by their place, each list up to the first that always holds: none behind it can decide.
#[derive(Debug, Clone)]
pub(crate) struct Places<R> {
    lists: [Vec<R>; Place::COUNT],
}

impl<R: Clone + AsRef<Rule>> Places<R> {
    pub fn of(rules: impl Iterator<Item = R>) -> Self {
        let mut lists: [Vec<R>; Place::COUNT] = Default::default();
        for rule in rules {
            let Some(place) = rule.as_ref().place else { continue };
            let list = &mut lists[place as usize];
            if !list.last().is_some_and(|last| last.as_ref().is_plain()) {
                list.push(rule);
            }
        }
        Self { lists }
    }

    pub fn list(&self, place: Place) -> &[R] {
        &self.lists[place as usize]
    }
}

/// The rules that can be about one capability, ready to decide its calls.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// One place after the other.
    rules: Vec<Arc<Rule>>,
    /// Where the rules of each place end.
    ends: [u32; Place::COUNT],
    screen: Screen,
    settings: Arc<Settings>,
    kind: CapabilityKind,
}

impl Prepared {
    pub(crate) fn new(
        id: &CapabilityId,
        rules: impl Iterator<Item = Arc<Rule>>,
        settings: &Arc<Settings>,
    ) -> Self {
        let lists = Places::of(rules).lists;
        let mut end = 0;
        let ends = lists.each_ref().map(|list| {
            end += u32::try_from(list.len()).unwrap_or(u32::MAX);
            end
        });
        let rules: Vec<_> = lists.into_iter().flatten().collect();
        let screen = Screen::of(rules.iter().map(AsRef::as_ref));
        Self { rules, ends, screen, settings: Arc::clone(settings), kind: id.kind }
    }

    /// Decides about the capability it was prepared for; its identity and tags are not looked at
    /// again.
    pub fn decide(&self, asked: &Asked<'_>, facts: &Facts<'_>) -> Decision<'_> {
        let (arguments, candidates) = (Arguments::new(asked.arguments), OnceCell::new());
        let find = |place| {
            let rules = self.place(place);
            let find = || self.screen.candidates(asked, &arguments);
            // Most things have no rules in most places, and then nobody looks at arguments.
            let candidates = (!rules.is_empty()).then(|| candidates.get_or_init(find))?;
            self.first_of(rules, candidates, asked, &arguments)
        };
        verdict(find, &self.settings, self.kind, facts).decision
    }

    fn first_of<'p: 'a, 'a>(
        &'p self,
        rules: Range<u32>,
        candidates: &Candidates,
        asked: &Asked<'_>,
        arguments: &Arguments<'a>,
    ) -> Option<&'p Rule> {
        let holds = |rule: &&'p Rule| rule.holds(asked, arguments);
        match candidates {
            Candidates::All => rules.filter_map(|number| self.rule(number)).find(holds),
            Candidates::Some(found) => {
                let always = self.first(self.screen.always(), &rules, holds);
                let before = rules.start..always.unwrap_or(rules.end);
                let found = self.first(found, &before, holds);
                found.or(always).and_then(|number| self.rule(number))
            }
        }
    }

    /// The numbers of the rules of a place.
    fn place(&self, place: Place) -> Range<u32> {
        let end = |place: usize| self.ends.get(place).copied().unwrap_or_default();
        let place = place as usize;
        place.checked_sub(1).map_or(0, end)..end(place)
    }

    fn rule(&self, number: u32) -> Option<&Rule> {
        self.rules.get(usize::try_from(number).ok()?).map(AsRef::as_ref)
    }

    /// The first of these numbers, which are sorted, that lies in a range and whose rule holds.
    fn first<'p>(
        &'p self,
        numbers: &[u32],
        range: &Range<u32>,
        holds: impl Fn(&&'p Rule) -> bool,
    ) -> Option<u32> {
        let from = numbers.partition_point(|number| *number < range.start);
        let inside = numbers[from..].iter().copied().take_while(|number| *number < range.end);
        inside.into_iter().find(|number| self.rule(*number).as_ref().is_some_and(&holds))
    }

    /// Whether a decision can depend on the arguments.
    pub fn looks_at_arguments(&self) -> bool {
        self.rules.iter().any(|rule| !rule.when.is_empty())
    }
}
