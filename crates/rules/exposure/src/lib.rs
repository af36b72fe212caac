//! Decides what a caller sees, under which name, at what cost, and by which rule.
//!
//! [`exposure`] is one pure function of the catalogs of all servers and one profile. The gate
//! builds its views from it, and `toolgate exposure` prints it. Whether a visible capability may be
//! called is decided elsewhere.

mod absent;
mod cost;
mod cost_report;
mod deferral;
mod evaluate;
mod naming;
mod patterns;
mod profile;
mod selection;
mod summary;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use toolgate_model::{
    CapabilityId, Catalog, DeclaredProfile, Definition, ExposureMode, Origin, ServerSpec,
};

use evaluate::ExposureDraft;

pub use cost::OwnToolCosts;
pub use cost_report::{CostReport, TokenCost, cost_report};
pub use naming::{ExposedNames, NameBounds, NameClaim, NamingOptions, UriOwner, expose};
pub use profile::profile_sees;
pub use summary::{DefinitionLookup, summary};

/// What one server offers, with its declaration.
#[derive(Debug, Clone, Copy)]
pub struct ServerOffer<'a> {
    /// The declaration.
    pub spec: &'a ServerSpec,
    /// Where it is declared.
    pub origin: &'a Origin,
    /// Its position among all declarations.
    pub place: usize,
    /// The catalog that the server sent.
    pub catalog: &'a Arc<Catalog>,
}

/// The profile and settings that determine an exposure.
pub struct ExposureOptions<'a> {
    /// The name of the profile.
    pub profile: &'a str,
    /// The profile.
    pub declared: &'a DeclaredProfile,
    /// The naming options for a profile without its own.
    pub style: &'a NamingOptions,
    /// The exposure mode for a profile without its own.
    pub expose: ExposureMode,
    /// The token costs of the gateway's own tools.
    pub own: OwnToolCosts,
    /// Returns why a definition cannot be used, such as an invalid schema, or `None` if it can.
    pub unusable: &'a dyn Fn(&CapabilityId, &Definition) -> Option<String>,
}

/// What callers with one profile see.
#[derive(Debug, Clone, Default)]
pub struct Exposure {
    /// The names of everything visible, listed or deferred.
    pub names: ExposedNames,
    /// The tools that are visible but not listed: they are found by searching.
    pub deferred: HashSet<CapabilityId>,
    /// Whether some tools are deferred, so that `tool_search` and `call_tool` are offered.
    pub searching: bool,
    /// The exposure mode of the profile, or the default.
    pub expose: ExposureMode,
    /// Whether callers get a line about each deferred tool.
    pub summarised: bool,
    /// The token costs of the gateway's own tools.
    own: OwnToolCosts,
    /// The most tokens for those lines.
    room: u32,
    /// Every offered capability, and every declared one that is missing, by server, kind and name.
    pub entries: Vec<ExposureEntry>,
    /// Notes for the operator.
    pub findings: Vec<String>,
}

/// One capability and its visibility.
#[derive(Debug, Clone)]
pub struct ExposureEntry {
    /// The capability.
    pub id: CapabilityId,
    /// The alias from its server's declaration.
    pub alias: Option<Arc<str>>,
    /// The exposed name.
    pub exposed: Option<Arc<str>>,
    /// The visibility.
    pub visibility: Visibility,
    /// The reason for the visibility.
    pub because: ExposureReason,
    /// The tags of the capability.
    pub tags: Vec<String>,
    /// The token cost of its definition.
    pub tokens: u32,
}

/// Whether and how a capability is visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// It is listed.
    Listed,
    /// It is found by searching.
    Deferred,
    /// It is hidden.
    Hidden,
}

/// The rule that decided, and its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExposureReason {
    /// The text of the rule.
    pub rule: String,
    /// The file and line of the rule.
    pub origin: Origin,
}

impl ExposureReason {
    pub(crate) fn new(rule: impl Into<String>, origin: &Origin) -> Self {
        Self { rule: rule.into(), origin: origin.clone() }
    }
}

impl fmt::Display for ExposureReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.rule, self.origin)
    }
}

impl Exposure {
    /// Hides capabilities that must not be used now, whatever profiles say. Each name stays
    /// reserved: no other capability gets it, and a call can be refused with the reason.
    pub fn withhold(&mut self, why: &dyn Fn(&CapabilityId) -> Option<ExposureReason>) {
        self.hide(why, false);
    }

    /// Removes capabilities that rules always deny from the list. A call by name is refused with
    /// the rule.
    pub fn unlist(&mut self, why: &dyn Fn(&CapabilityId) -> Option<ExposureReason>) {
        self.hide(why, true);
    }

    fn hide(&mut self, why: &dyn Fn(&CapabilityId) -> Option<ExposureReason>, is_named: bool) {
        let seen = self.entries.iter_mut().filter(|row| row.visibility != Visibility::Hidden);
        for row in seen {
            if let Some(because) = why(&row.id) {
                (row.visibility, row.because) = (Visibility::Hidden, because);
                row.exposed = row.exposed.take().filter(|_| is_named);
                self.deferred.remove(&row.id);
            }
        }
    }
}

/// Computes the exposure. The result does not depend on the order of `offers`.
pub fn exposure(offers: &[ServerOffer<'_>], terms: &ExposureOptions<'_>) -> Exposure {
    let mut offers: Vec<_> = offers.iter().collect();
    offers.sort_by_key(|offer| (offer.place, &offer.spec.name));
    let mut exposure = Exposure::default();
    let mut judged = evaluate::evaluate_all(&offers, terms, &mut exposure.findings);
    exposure.names = names(&offers, &judged, terms);
    exposure.findings.extend(exposure.names.notes.iter().cloned());
    apply_names(&mut judged, &offers, &exposure.names);
    deferral::defer(&mut judged, terms, &mut exposure);
    exposure.entries = judged.into_iter().map(|judged| judged.entry).collect();
    exposure.entries.extend(absent::missing_tools(&offers, &mut exposure.findings));
    absent::report_missing_includes(&offers, terms, &mut exposure.findings);
    exposure.entries.sort_by(|one, other| one.id.cmp(&other.id));
    exposure
}

fn names(
    offers: &[&ServerOffer<'_>],
    judged: &[ExposureDraft],
    terms: &ExposureOptions<'_>,
) -> ExposedNames {
    let profile = &terms.declared.profile;
    let style = NamingOptions {
        naming: profile.naming.unwrap_or(terms.style.naming),
        prefix: profile.prefix.unwrap_or(terms.style.prefix),
        ..terms.style.clone()
    };
    let seen = judged.iter().filter(|judged| judged.entry.visibility != Visibility::Hidden);
    let claims: Vec<_> = seen
        .map(|judged| NameClaim { id: judged.entry.id.clone(), alias: judged.entry.alias.clone() })
        .collect();
    let servers: Vec<_> = offers.iter().map(|offer| &offer.spec.name).collect();
    expose(&claims, &servers, &style)
}

/// Sets the exposed names. A capability without a name becomes hidden.
fn apply_names(judged: &mut [ExposureDraft], offers: &[&ServerOffer<'_>], names: &ExposedNames) {
    let quarantined: HashMap<_, _> =
        names.quarantined.iter().map(|(id, reason)| (id, reason)).collect();
    for judged in judged {
        let row = &mut judged.entry;
        row.exposed = names.name_of(&row.id).map(Arc::from);
        if let Some(exposed) = &row.exposed {
            row.tokens = cost::with_name(row.tokens, &row.id.name, exposed);
        }
        if let Some(reason) = quarantined.get(&row.id) {
            row.visibility = Visibility::Hidden;
            row.because = ExposureReason::new(reason.as_str(), offers[judged.offer].origin);
        }
    }
}
