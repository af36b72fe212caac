//! What can matter for one capability: found once, asked at every call.

use std::sync::Arc;

use toolgate_model::{CapabilityId, CapabilityKind};

use crate::condition::Arguments;
use crate::decide::{Settings, verdict};
use crate::rule::{Place, Rule};
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
    places: Places<Arc<Rule>>,
    settings: Arc<Settings>,
    kind: CapabilityKind,
}

impl Prepared {
    pub(crate) fn new(
        id: &CapabilityId,
        rules: impl Iterator<Item = Arc<Rule>>,
        settings: &Arc<Settings>,
    ) -> Self {
        Self { places: Places::of(rules), settings: Arc::clone(settings), kind: id.kind }
    }

    /// Decides about the capability it was prepared for; its identity and tags are not looked at
    /// again.
    pub fn decide(&self, asked: &Asked<'_>, facts: &Facts<'_>) -> Decision<'_> {
        let arguments = Arguments::new(asked.arguments);
        let find = |place| {
            let mut rules = self.places.list(place).iter().map(AsRef::as_ref);
            rules.find(|rule: &&Rule| rule.holds(asked, &arguments))
        };
        verdict(find, &self.settings, self.kind, facts).decision
    }

    /// Whether a decision can depend on the arguments.
    pub fn looks_at_arguments(&self) -> bool {
        self.places.lists.iter().flatten().any(|rule| !rule.when.is_empty())
    }
}
