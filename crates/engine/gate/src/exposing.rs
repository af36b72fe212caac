//! What is offered, as `rules/exposure` takes it: the bridge from the fleet's words to the rules'.

use std::collections::HashMap;

use toolgate_exposure::{Exposure, Offer, Terms, exposure};
use toolgate_fleet::Offered;
use toolgate_model::{CapabilityKind, DeclaredProfile, Definition};

use crate::{Manner, own};

/// Decides on everything that is offered, by the rules.
pub(crate) fn of(
    offered: &[Offered],
    declared: &DeclaredProfile,
    profile: &str,
    manner: &Manner,
) -> Exposure {
    let offers: Vec<_> = offered
        .iter()
        .map(|Offered { member, known, .. }| Offer {
            spec: &member.spec,
            origin: &member.origin,
            place: member.place,
            catalog: &known.catalog,
        })
        .collect();
    let verdicts = unusable(offered);
    let style = own::reserving(&manner.style, &declared.profile, manner.expose);
    exposure(
        &offers,
        &Terms {
            profile,
            declared,
            style: &style,
            expose: manner.expose,
            own: own::cost(&declared.profile),
            unusable: &|_, definition| verdicts.get(&std::ptr::from_ref(definition)).cloned(),
        },
    )
}

/// Definitions nobody can use, each with the reason.
fn unusable(offered: &[Offered]) -> HashMap<*const Definition, String> {
    let all = offered.iter().flat_map(|offered| {
        CapabilityKind::ALL.into_iter().flat_map(|kind| offered.known.of_kind(kind))
    });
    let unusable = all.filter_map(|(definition, fact)| {
        Some((std::ptr::from_ref(definition), fact.unusable.clone()?))
    });
    unusable.collect()
}
