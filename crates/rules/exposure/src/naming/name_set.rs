//! Names a set of tools or prompts, and reports collisions.

use std::collections::{BTreeMap, HashMap};

use toolgate_model::{CapabilityId, CapabilityKind, ServerName};

use crate::naming::assign::{NameClaimant, NameClash, assign};
use crate::naming::bounds::NameBounds;
use crate::naming::candidates::{NameChoices, NamingCandidate, digested, is_full_digest};
use crate::naming::style::{NameClaim, NamingOptions};
use crate::naming::styles::name_choices;

/// Names the claims of one kind, which are sorted by id. Returns the names in the order of the
/// claims, `None` if every name is taken, and adds notes about them.
pub(crate) fn name_all(
    kind: CapabilityKind,
    claims: &[&NameClaim],
    servers: &[&ServerName],
    style: &NamingOptions,
    notes: &mut Vec<String>,
) -> Vec<Option<String>> {
    let places: HashMap<_, _> =
        servers.iter().zip(0..).map(|(name, place)| (*name, place)).collect();
    let mut members = Vec::with_capacity(claims.len());
    for claim in claims {
        members.push(NamingCandidate {
            name: display_name(claim, notes),
            own: style.own.contains(&claim.id.server),
            place: places.get(&claim.id.server).copied().unwrap_or(usize::MAX),
            id: &claim.id,
        });
    }
    // The gateway has its own tools, but no prompts.
    let reserved = if kind == CapabilityKind::Tool { &style.reserved[..] } else { &[] };
    let wishes = name_choices(&members, style, reserved);
    let bounds = NameBounds::of(style);
    let claimants: Vec<_> = members
        .iter()
        .zip(&wishes)
        .map(|(member, wish)| CapabilityClaimant { candidate: member, choices: wish, bounds })
        .collect();
    let assignment = assign(&claimants, reserved);
    notes.extend(clash_notes(&claimants, &assignment.clashes, reserved));
    assignment.names
}

/// Returns the alias if it can be shown, else the capability's own name.
fn display_name<'a>(claim: &'a NameClaim, notes: &mut Vec<String>) -> &'a str {
    let Some(alias) = &claim.alias else { return &claim.id.name };
    let as_name = CapabilityId { name: alias.clone(), ..claim.id.clone() };
    match as_name.name_problem() {
        None => alias,
        Some(reason) => {
            let id = &claim.id;
            notes.push(format!("the alias of {id} cannot be used: {reason}"));
            &id.name
        }
    }
}

/// A capability that claims a name, with its choices.
struct CapabilityClaimant<'a> {
    candidate: &'a NamingCandidate<'a>,
    choices: &'a NameChoices,
    bounds: NameBounds,
}

impl NameClaimant for CapabilityClaimant<'_> {
    fn choice(&self, level: usize) -> Option<String> {
        let NameChoices { plain, base } = self.choices;
        match plain.get(level) {
            Some(name) => Some(name.clone()),
            None => digested(base, self.candidate, level - plain.len(), self.bounds),
        }
    }

    fn has_precedence(&self) -> bool {
        self.candidate.own
    }

    fn is_unique(&self, level: usize) -> bool {
        level.checked_sub(self.choices.plain.len()).is_some_and(is_full_digest)
    }
}

/// Returns a note for every name that several claimants wanted, if one has to carry a digest
/// instead.
fn clash_notes(
    claimants: &[CapabilityClaimant<'_>],
    clashes: &BTreeMap<String, NameClash>,
    reserved: &[&str],
) -> Vec<String> {
    let is_digested = |(who, to): &(usize, usize)| *to >= claimants[*who].choices.plain.len();
    let id = |who: usize| claimants[who].candidate.id;
    let note = |(name, clash): (&String, &NameClash)| {
        let who = list(&clash.moved.iter().map(|(who, _)| id(*who)).collect::<Vec<_>>());
        match clash.kept.map(id) {
            Some(kept) => format!("{who} would be named {name:?}, which is the name of {kept}"),
            None if reserved.contains(&name.as_str()) => {
                format!("{who} would be named {name:?}, which is reserved for the gateway")
            }
            None => {
                format!("{who} would all be named {name:?}; a digest or an alias tells them apart")
            }
        }
    };
    let digested = clashes.iter().filter(|(_, clash)| clash.moved.iter().any(is_digested));
    digested.map(note).collect()
}

/// Lists the first few ids.
fn list(ids: &[&CapabilityId]) -> String {
    const SHOWN: usize = 4;
    let shown: Vec<_> = ids.iter().take(SHOWN).map(ToString::to_string).collect();
    match ids.len().saturating_sub(SHOWN) {
        0 => shown.join(" and "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
