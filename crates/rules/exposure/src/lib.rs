//! What a caller sees, under which name, at what cost, and because of which rule.
//!
//! One pure function, [`exposure`], over what all servers offer and one profile. The gate makes its
//! views of it, and `toolgate exposure` prints it; nobody else decides what is seen. Who may call
//! what is seen is another matter.

mod absent;
mod cost;
mod deferral;
mod judge;
mod ledger;
mod patterns;
mod profile;
mod selection;
mod summary;
mod unlisted;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use toolgate_model::{
    CapabilityId, Catalog, DeclaredProfile, Definition, Expose, Origin, ServerSpec,
};
use toolgate_naming::{Claim, Exposed, Style, expose};

use judge::Judged;

pub use cost::OwnTools;
pub use ledger::{Cost, Ledger, ledger};
pub use summary::{About, summary};
pub use unlisted::sees;

/// What one server offers, and what its declaration says of that.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'a> {
    /// As declared.
    pub spec: &'a ServerSpec,
    /// Where.
    pub origin: &'a Origin,
    /// Its place among all declarations.
    pub place: usize,
    /// As the server sent it.
    pub catalog: &'a Arc<Catalog>,
}

/// On what terms a caller is shown things.
pub struct Terms<'a> {
    /// The name of his profile.
    pub profile: &'a str,
    /// What it says.
    pub declared: &'a DeclaredProfile,
    /// How names are made where the profile does not say.
    pub style: &'a Style,
    /// Whether definitions are sent or found where the profile does not say.
    pub expose: Expose,
    /// What the gateway's own tools cost him.
    pub own: OwnTools,
    /// Why a definition cannot be used, if it cannot: its schema, its marks for headers.
    pub unusable: &'a dyn Fn(&CapabilityId, &Definition) -> Option<String>,
}

/// What a caller sees.
#[derive(Debug, Clone, Default)]
pub struct Exposure {
    /// The names of everything visible, listed or deferred.
    pub names: Exposed,
    /// What is visible and not listed: found by searching.
    pub deferred: HashSet<CapabilityId>,
    /// Whether there is something to search for, so that `tool_search` and `call_tool` are offered.
    pub searching: bool,
    /// How the caller is shown tools, by his profile or by the terms.
    pub expose: Expose,
    /// Whether he is sent a line about each tool that is deferred.
    pub summarised: bool,
    /// What the gateway's own tools cost him.
    own: OwnTools,
    /// What such lines may cost together.
    room: u32,
    /// Every capability there is and every one that is declared and absent, by server, kind, name.
    pub rows: Vec<Row>,
    /// What an operator should know.
    pub findings: Vec<String>,
}

/// One capability, and how it is seen.
#[derive(Debug, Clone)]
pub struct Row {
    /// Which.
    pub id: CapabilityId,
    /// What its server's declaration calls it instead.
    pub alias: Option<Arc<str>>,
    /// The name it is seen under.
    pub exposed: Option<Arc<str>>,
    /// Whether it is seen.
    pub seen: Seen,
    /// Because of what.
    pub because: Because,
    /// What it bears.
    pub tags: Vec<String>,
    /// What its definition costs whoever is sent it.
    pub tokens: u32,
}

/// Whether a capability is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// In the list.
    Listed,
    /// By searching.
    Deferred,
    /// Not at all.
    Hidden,
}

/// Which rule of which file decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Because {
    /// The rule, in words.
    pub rule: String,
    /// Where it stands.
    pub origin: Origin,
}

impl Because {
    pub(crate) fn new(rule: impl Into<String>, origin: &Origin) -> Self {
        Self { rule: rule.into(), origin: origin.clone() }
    }
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.rule, self.origin)
    }
}

impl Exposure {
    /// Hides what must not be shown now, whatever profiles say of it. Its name stays its own: it
    /// never falls to another, and whoever calls it can be told why not.
    pub fn withhold(&mut self, why: &dyn Fn(&CapabilityId) -> Option<Because>) {
        self.hide(why, false);
    }

    /// Takes what is always refused off the list. Under its name it is refused with the rule.
    pub fn unlist(&mut self, why: &dyn Fn(&CapabilityId) -> Option<Because>) {
        self.hide(why, true);
    }

    fn hide(&mut self, why: &dyn Fn(&CapabilityId) -> Option<Because>, is_named: bool) {
        let seen = self.rows.iter_mut().filter(|row| row.seen != Seen::Hidden);
        for row in seen {
            if let Some(because) = why(&row.id) {
                (row.seen, row.because) = (Seen::Hidden, because);
                row.exposed = row.exposed.take().filter(|_| is_named);
                self.deferred.remove(&row.id);
            }
        }
    }
}

/// Decides on everything that is offered. It depends on what is offered and declared, not on the
/// order of `offers`.
pub fn exposure(offers: &[Offer<'_>], terms: &Terms<'_>) -> Exposure {
    let mut offers: Vec<_> = offers.iter().collect();
    offers.sort_by_key(|offer| (offer.place, &offer.spec.name));
    let mut exposure = Exposure::default();
    let mut judged = judge::all(&offers, terms, &mut exposure.findings);
    exposure.names = names(&offers, &judged, terms);
    exposure.findings.extend(exposure.names.notes().iter().cloned());
    named(&mut judged, &offers, &exposure.names);
    deferral::defer(&mut judged, terms, &mut exposure);
    judged.extend(absent::listed(&offers, &mut exposure.findings));
    absent::included(&offers, terms, &mut exposure.findings);
    exposure.rows = judged.into_iter().map(|judged| judged.row).collect();
    exposure.rows.sort_by(|one, other| one.id.cmp(&other.id));
    exposure
}

fn names(offers: &[&Offer<'_>], judged: &[Judged], terms: &Terms<'_>) -> Exposed {
    let profile = &terms.declared.profile;
    let style = Style {
        naming: profile.naming.unwrap_or(terms.style.naming),
        prefix: profile.prefix.unwrap_or(terms.style.prefix),
        ..terms.style.clone()
    };
    let seen = judged.iter().filter(|judged| judged.row.seen != Seen::Hidden);
    let claims: Vec<_> = seen
        .map(|judged| Claim { id: judged.row.id.clone(), alias: judged.row.alias.clone() })
        .collect();
    let servers: Vec<_> = offers.iter().map(|offer| &offer.spec.name).collect();
    expose(&claims, &servers, &style)
}

/// Writes the names into the rows; what got none is hidden.
fn named(judged: &mut [Judged], offers: &[&Offer<'_>], names: &Exposed) {
    let quarantined: HashMap<_, _> =
        names.quarantined().iter().map(|(id, reason)| (id, reason)).collect();
    for judged in judged {
        let row = &mut judged.row;
        row.exposed = names.name_of(&row.id).map(Arc::from);
        if let Some(exposed) = &row.exposed {
            row.tokens = cost::renamed(row.tokens, &row.id.name, exposed);
        }
        if let Some(reason) = quarantined.get(&row.id) {
            row.seen = Seen::Hidden;
            row.because = Because::new(reason.as_str(), offers[judged.offer].origin);
        }
    }
}
