//! Evaluates each capability: by its server's declaration, then by the profile, then by whether its
//! definition can be used.
//!
//! Names and costs follow later. A capability whose name cannot be shown is hidden then.

use std::collections::HashSet;
use std::sync::Arc;

use toolgate_model::{CapabilityId, CapabilityKind, Definition};
use toolgate_search::tokens::estimate;

use crate::profile::ProfileFilter;
use crate::selection::SelectionFilter;
use crate::{ExposureEntry, ExposureOptions, ExposureReason, ServerOffer, Visibility};

/// An exposure entry that is not final yet.
pub(crate) struct ExposureDraft {
    pub entry: ExposureEntry,
    /// Whether the profile names it exactly, so that it is deferred last.
    pub spelled_out: bool,
    /// The index of its server in the list of offers.
    pub offer: usize,
}

/// Evaluates everything that is offered.
pub(crate) fn evaluate_all<'a>(
    offers: &[&ServerOffer<'a>],
    terms: &ExposureOptions<'a>,
    findings: &mut Vec<String>,
) -> Vec<ExposureDraft> {
    let profile_filter = ProfileFilter::of(terms.profile, &terms.declared.profile);
    let mut judged = Vec::new();
    for (place, offer) in offers.iter().enumerate() {
        let spec = offer.spec;
        let evaluator = OfferFilter {
            offer,
            place,
            terms,
            profile_filter: &profile_filter,
            selection_filter: SelectionFilter::of(spec.name.as_str(), &spec.selection),
            tags: spec.server_tags(),
        };
        for kind in CapabilityKind::ALL {
            let mut known = HashSet::new();
            for definition in offer.catalog.definitions(kind) {
                if !known.insert(&definition.name) {
                    let id = evaluator.id(kind, definition);
                    findings.push(format!("{id} is offered twice; the first definition is used"));
                    continue;
                }
                let (capability, finding) = evaluator.evaluate(kind, definition);
                judged.push(capability);
                findings.extend(finding);
            }
        }
    }
    judged
}

/// One server's offer, with the filters that apply to it.
struct OfferFilter<'a, 'b> {
    offer: &'b ServerOffer<'a>,
    place: usize,
    terms: &'b ExposureOptions<'a>,
    profile_filter: &'b ProfileFilter<'a>,
    selection_filter: SelectionFilter<'a>,
    tags: Vec<String>,
}

impl OfferFilter<'_, '_> {
    fn id(&self, kind: CapabilityKind, definition: &Definition) -> CapabilityId {
        CapabilityId { server: self.offer.spec.name.clone(), kind, name: definition.name.clone() }
    }

    /// Returns the entry, and a note for the operator if there is one.
    fn evaluate(
        &self,
        kind: CapabilityKind,
        definition: &Definition,
    ) -> (ExposureDraft, Option<String>) {
        let id = self.id(kind, definition);
        let selection = &self.offer.spec.selection;
        let is_tool = kind == CapabilityKind::Tool;
        let tags = match is_tool {
            true => self.offer.spec.tool_tags(&id.name, &definition.raw),
            false => self.tags.clone(),
        };
        let path = format!("{}/{}", id.server, id.name);
        let mut verdict = self.visibility_reason(&id, &path, &tags);
        let mut finding = None;
        if verdict.is_ok()
            && let Some(reason) = (self.terms.unusable)(&id, definition)
        {
            finding = Some(format!("{id} is left out: {reason}"));
            verdict = Err(ExposureReason::new(reason, self.offer.origin));
        }
        let entry = if is_tool { selection.tools.get(&*id.name) } else { None };
        let (seen, because) = match verdict {
            Ok(because) => (Visibility::Listed, because),
            Err(because) => (Visibility::Hidden, because),
        };
        let tokens = estimate(&definition.raw);
        let alias = entry.and_then(|entry| entry.alias.as_deref()).map(Arc::from);
        let row =
            ExposureEntry { id, alias, exposed: None, visibility: seen, because, tags, tokens };
        let spelled_out = self.profile_filter.names_exactly(&path);
        (ExposureDraft { entry: row, spelled_out, offer: self.place }, finding)
    }

    /// Returns why a capability is visible; `Err` with the reason if it is hidden.
    fn visibility_reason(
        &self,
        id: &CapabilityId,
        path: &str,
        tags: &[String],
    ) -> Result<ExposureReason, ExposureReason> {
        let (server, profile) = (self.offer.origin, &self.terms.declared.origin);
        let is_tool = id.kind == CapabilityKind::Tool;
        let selected = if is_tool { self.selection_filter.evaluate(&id.name) } else { Ok(None) };
        let selected = selected.map_err(|rule| ExposureReason::new(rule, server))?;
        let by_profile = self.profile_filter.evaluate(id.server.as_str(), path, tags);
        match (by_profile, selected) {
            (Err(rule), _) => Err(ExposureReason::new(rule, profile)),
            (Ok(Some(rule)), _) => Ok(ExposureReason::new(rule, profile)),
            (Ok(None), Some(rule)) => Ok(ExposureReason::new(rule, server)),
            (Ok(None), None) => {
                let rule = format!("profile {} sees everything", self.terms.profile);
                Ok(ExposureReason::new(rule, profile))
            }
        }
    }
}
