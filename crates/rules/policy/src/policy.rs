//! All rules of all files, and how they are put together.
//!
//! What files of different scopes say is ordered here: a project's file only tightens, whatever the
//! reader of files let pass.

use std::collections::BTreeSet;
use std::sync::Arc;

use toolgate_model::{CapabilityId, Effect, Governance, Mode, Origin, RuleSet, Scope, ServerName};

use crate::condition::Arguments;
use crate::decide::{Settings, Verdict, verdict};
use crate::index::Index;
use crate::known::{Settled, settle};
use crate::pattern::{Named, Pattern};
use crate::prepared::Places;
use crate::rule::{ClientNames, Place, Rule};
use crate::{Asked, BadRule, Decision, Facts, Layer, Prepared};

/// All rules, ready to decide. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    rules: Arc<[Arc<Rule>]>,
    index: Arc<Index>,
    settings: Arc<Settings>,
    known: Option<Arc<BTreeSet<ServerName>>>,
    /// Servers that no rule allows: those that a project's file declares.
    proposed: Arc<BTreeSet<ServerName>>,
    /// Whether any rule refuses.
    denies: bool,
}

impl Policy {
    /// Understands all rules. What cannot be understood is told.
    ///
    /// Which servers there are it does not know yet: until [`Policy::knowing`] says so, a rule that
    /// allows and runs a server's and a tool's name together allows nothing.
    pub fn of(governance: &Governance) -> (Self, Vec<BadRule>) {
        let (mut rules, mut bad) = (Vec::new(), Vec::new());
        for set in &governance.rules {
            for (effect, written) in &set.rules {
                let (rule, wrong) = Rule::of(set, *effect, written, governance.posture);
                rules.extend(rule);
                bad.extend(wrong);
            }
        }
        // An administrator's rules are named before others that say the same.
        rules.sort_by_key(|rule| rule.layer != Layer::Admin);
        let (mode, mode_at) = mode(&governance.rules);
        let settings = Settings { mode, mode_at, yolo_floor: governance.yolo_floor };
        (Self::put_together(rules, Arc::new(settings), None), bad)
    }

    /// The same among these servers: all that are declared, whether they may be used or not. Which
    /// of them a rule means is settled by it, so it is told again when servers come or go.
    #[must_use]
    pub fn knowing<'a>(&self, servers: impl IntoIterator<Item = &'a ServerName>) -> Self {
        let known = Arc::new(servers.into_iter().cloned().collect());
        let rules = self.rules.iter().map(|rule| Rule::clone(rule)).collect();
        let proposed = Arc::clone(&self.proposed);
        Self { proposed, ..Self::put_together(rules, Arc::clone(&self.settings), Some(known)) }
    }

    /// The same where these servers are declared by a project's file. A rule that allows is bound to
    /// what the user or the administrator declares, so none is about them; one that denies or asks is
    /// bound to the name.
    #[must_use]
    pub fn proposing<'a>(&self, servers: impl IntoIterator<Item = &'a ServerName>) -> Self {
        Self { proposed: Arc::new(servers.into_iter().cloned().collect()), ..self.clone() }
    }

    /// The rules that can be about none of these servers, by their names and all tags that something
    /// of them may bear.
    pub fn idle_rules(
        &self,
        servers: &[(&ServerName, Vec<String>)],
    ) -> Vec<(Effect, &str, &Origin)> {
        let means =
            |rule: &Rule| servers.iter().any(|(server, tags)| rule.may_mean(server, Some(tags)));
        let rules = self.rules.iter().filter(|rule| rule.place.is_some() && !means(rule));
        rules.map(|rule| (rule.effect, &*rule.text, &rule.origin)).collect()
    }

    /// The rules that allow something of a server with these tags, as they are written.
    pub fn allowing(&self, server: &ServerName, tags: &[String]) -> Vec<&str> {
        let rules = self.rules.iter().filter(|rule| rule.effect == Effect::Allow);
        let rules = rules.filter(|rule| rule.place.is_some() && rule.may_mean(server, Some(tags)));
        rules.map(|rule| &*rule.text).collect()
    }

    fn put_together(
        mut rules: Vec<Rule>,
        settings: Arc<Settings>,
        known: Option<Arc<BTreeSet<ServerName>>>,
    ) -> Self {
        for rule in rules.iter_mut().filter(|rule| rule.effect == Effect::Allow) {
            rule.pattern = match settle(&rule.written, known.as_deref()) {
                Settled::To(pattern) => pattern,
                Settled::Absent | Settled::Ambiguous(_) => Pattern { readings: Vec::new() },
            };
        }
        let index = Arc::new(Index::of(rules.iter()));
        let denies = rules.iter().any(|rule| rule.place == Some(Place::Deny));
        let (rules, proposed) = (rules.into_iter().map(Arc::new).collect(), Arc::default());
        Self { rules, index, settings, known, proposed, denies }
    }

    /// Finds once what can matter for one capability.
    pub fn prepare(&self, id: &CapabilityId, tags: &[String]) -> Prepared {
        let named = Named::new(id, tags);
        Prepared::new(id, self.about(&named).cloned(), &self.settings)
    }

    /// The rule that refuses something whatever its arguments are: to everybody with a profile, or
    /// to this client.
    pub fn always_denies(
        &self,
        id: &CapabilityId,
        tags: &[String],
        profile: &str,
        client: Option<ClientNames<'_>>,
    ) -> Option<(&str, &Origin)> {
        if !self.denies {
            return None;
        }
        let named = Named::new(id, tags);
        let mut rules = self.about(&named);
        let rule = rules.find(|rule| {
            rule.place == Some(Place::Deny)
                && rule.when.is_empty()
                && rule.profile.as_ref().is_none_or(|wanted| wanted.fits(profile))
                && rule
                    .client
                    .as_ref()
                    .is_none_or(|wanted| client.is_some_and(|names| wanted.fits(names)))
        })?;
        Some((&rule.text, &rule.origin))
    }

    /// Whether any rule refuses something.
    pub fn denies(&self) -> bool {
        self.denies
    }

    /// Whether a rule refuses something to some clients and not to others, whatever its arguments
    /// are.
    pub fn denies_by_client(&self) -> bool {
        let refuses = |rule: &Arc<Rule>| rule.place == Some(Place::Deny) && rule.when.is_empty();
        self.denies && self.rules.iter().any(|rule| refuses(rule) && rule.client.is_some())
    }

    /// Decides.
    pub fn decide(&self, asked: &Asked<'_>, facts: &Facts<'_>) -> Decision<'_> {
        self.verdict(asked, facts).decision
    }

    pub(crate) fn verdict(&self, asked: &Asked<'_>, facts: &Facts<'_>) -> Verdict<'_> {
        let named = Named::new(asked.id, asked.tags);
        let places = Places::of(self.about(&named));
        let arguments = Arguments::new(asked.arguments);
        let find = |place| {
            let mut rules = places.list(place).iter().copied();
            rules.find(|rule| rule.holds(asked, &arguments)).map(AsRef::as_ref)
        };
        verdict(find, &self.settings, asked.id.kind, facts)
    }

    /// Rules about a capability, in their order.
    fn about(&self, named: &Named<'_>) -> impl Iterator<Item = &Arc<Rule>> {
        let numbers = self.index.find(named).into_iter();
        let rules = numbers.filter_map(|number| self.rules.get(usize::try_from(number).ok()?));
        let proposed = self.proposed.contains(&named.id.server);
        rules
            .filter(move |rule| rule.is_about(named) && !(proposed && rule.effect == Effect::Allow))
    }

    pub(crate) fn rules(&self) -> &[Arc<Rule>] {
        &self.rules
    }

    pub(crate) fn known(&self) -> Option<&BTreeSet<ServerName>> {
        self.known.as_deref()
    }

    /// How calls are decided that no rule speaks of, and where that was set, if it was.
    pub fn mode(&self) -> (Mode, Option<&Origin>) {
        (self.settings.mode, self.settings.mode_at.as_ref())
    }
}

/// The mode: the nearest file's of the user, and no looser than what the administrator or a project
/// says.
fn mode(sets: &[RuleSet]) -> (Mode, Option<Origin>) {
    let said = |scopes: &'static [Scope]| {
        let of = sets.iter().filter(|set| scopes.contains(&set.origin.scope));
        of.filter_map(|set| Some((set.mode?, Some(set.origin.clone()))))
    };
    let user = said(&[Scope::User, Scope::BuiltIn]).next();
    let admin = said(&[Scope::System]).next();
    let own = match (admin, user) {
        (Some(admin), Some(user)) => stricter(admin, user),
        (admin, user) => admin.or(user).unwrap_or_default(),
    };
    said(&[Scope::Project]).fold(own, |mode, project| match (&mode, &project) {
        // The same as what nobody wrote: now somebody has.
        ((Mode::Ask, None), (Mode::Ask, _)) => project,
        _ => stricter(mode, project),
    })
}

/// The stricter of two, and the first of two alike.
fn stricter(one: (Mode, Option<Origin>), other: (Mode, Option<Origin>)) -> (Mode, Option<Origin>) {
    let strictness = |mode: Mode| match mode {
        Mode::Full => 0,
        Mode::Ask => 1,
        Mode::Limited => 2,
    };
    if strictness(other.0) > strictness(one.0) { other } else { one }
}
