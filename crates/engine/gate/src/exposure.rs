//! Computes a profile's exposure: converts the fleet's catalogs to the input of `rules/exposure`.

use std::collections::HashMap;

use toolgate_exposure::{Exposure, ExposureOptions, ServerOffer, exposure};
use toolgate_fleet::OfferedCatalog;
use toolgate_model::{CapabilityKind, DeclaredProfile, Definition};

use crate::{GatewaySettings, own_tools};

/// Computes what a profile sees of everything that is offered.
pub(crate) fn compute(
    offered: &[OfferedCatalog],
    declared: &DeclaredProfile,
    profile: &str,
    settings: &GatewaySettings,
) -> Exposure {
    let offers: Vec<_> = offered
        .iter()
        .map(|OfferedCatalog { fleet_server: member, checked: known, .. }| ServerOffer {
            spec: &member.spec,
            origin: &member.origin,
            place: member.place,
            catalog: &known.catalog,
        })
        .collect();
    let verdicts = unusable(offered);
    let style = own_tools::reserve_names(&settings.style, &declared.profile, settings.expose);
    exposure(
        &offers,
        &ExposureOptions {
            profile,
            declared,
            style: &style,
            expose: settings.expose,
            own: own_tools::cost(&declared.profile),
            unusable: &|_, definition| verdicts.get(&std::ptr::from_ref(definition)).cloned(),
        },
    )
}

/// Returns the definitions that cannot be used, each with the reason.
fn unusable(offered: &[OfferedCatalog]) -> HashMap<*const Definition, String> {
    let all = offered.iter().flat_map(|offered| {
        CapabilityKind::ALL.into_iter().flat_map(|kind| offered.checked.of_kind(kind))
    });
    let unusable = all.filter_map(|(definition, fact)| {
        Some((std::ptr::from_ref(definition), fact.unusable.clone()?))
    });
    unusable.collect()
}
