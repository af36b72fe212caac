//! Judges one capability after the other: its server's declaration first, then the profile, then
//! whether its definition can be used at all.
//!
//! Names and costs come later; a name that cannot be shown hides its bearer there.

use std::collections::HashSet;
use std::sync::Arc;

use toolgate_model::{CapabilityId, CapabilityKind, Definition};

use crate::profile::{Said, Seeing};
use crate::selection::Selected;
use crate::{Because, Offer, Row, Seen, Terms, cost};

/// A row in the making.
pub(crate) struct Judged {
    pub row: Row,
    /// Whether the profile names it, so that it is the last to be deferred.
    pub spelled_out: bool,
    /// Whose it is, by place in the list of offers.
    pub offer: usize,
}

/// Judges all that is offered.
pub(crate) fn all<'a>(
    offers: &[&Offer<'a>],
    terms: &Terms<'a>,
    findings: &mut Vec<String>,
) -> Vec<Judged> {
    let seeing = Seeing::of(terms);
    let mut judged = Vec::new();
    for (place, offer) in offers.iter().enumerate() {
        let bench = Bench::new(offer, place, terms, &seeing);
        for kind in CapabilityKind::ALL {
            let mut known = HashSet::new();
            for definition in offer.catalog.of(kind) {
                if !known.insert(&definition.name) {
                    let id = bench.id(kind, definition);
                    findings.push(format!("{id} is offered twice: the first one counts"));
                    continue;
                }
                let (capability, finding) = bench.judge(kind, definition);
                judged.push(capability);
                findings.extend(finding);
            }
        }
    }
    judged
}

/// One server's offer, with everything that is said of it at hand.
struct Bench<'a, 'b> {
    offer: &'b Offer<'a>,
    place: usize,
    terms: &'b Terms<'a>,
    seeing: &'b Seeing<'a>,
    selected: Selected<'a>,
    tags: Vec<String>,
    everything: String,
}

impl<'a, 'b> Bench<'a, 'b> {
    fn new(
        offer: &'b Offer<'a>,
        place: usize,
        terms: &'b Terms<'a>,
        seeing: &'b Seeing<'a>,
    ) -> Self {
        let spec = offer.spec;
        Self {
            offer,
            place,
            terms,
            seeing,
            selected: Selected::of(spec.name.as_str(), &spec.selection),
            tags: spec.server_tags(),
            everything: format!("profile {} sees everything", terms.profile),
        }
    }

    fn id(&self, kind: CapabilityKind, definition: &Definition) -> CapabilityId {
        CapabilityId { server: self.offer.spec.name.clone(), kind, name: definition.name.clone() }
    }

    /// The verdict, and what an operator should know of it.
    fn judge(&self, kind: CapabilityKind, definition: &Definition) -> (Judged, Option<String>) {
        let id = self.id(kind, definition);
        let selection = &self.offer.spec.selection;
        let is_tool = kind == CapabilityKind::Tool;
        let tags = match is_tool {
            true => self.offer.spec.tool_tags(&id.name, &definition.raw),
            false => self.tags.clone(),
        };
        let path = format!("{}/{}", id.server, id.name);
        let mut verdict = self.verdict(&id, &path, &tags);
        let mut finding = None;
        if verdict.is_ok()
            && let Some(reason) = (self.terms.unusable)(&id, definition)
        {
            finding = Some(format!("{id} is left out: {reason}"));
            verdict = Err(Because::new(reason, self.offer.origin));
        }
        let entry = if is_tool { selection.tools.get(&*id.name) } else { None };
        let (seen, because) = match verdict {
            Ok(because) => (Seen::Listed, because),
            Err(because) => (Seen::Hidden, because),
        };
        let tokens = cost::tokens(&definition.raw);
        let alias = entry.and_then(|entry| entry.alias.as_deref()).map(Arc::from);
        let row = Row { id, alias, exposed: None, seen, because, tags, tokens };
        let spelled_out = self.seeing.names(&path);
        (Judged { row, spelled_out, offer: self.place }, finding)
    }

    /// Whether it is seen, as far as files say.
    fn verdict(&self, id: &CapabilityId, path: &str, tags: &[String]) -> Result<Because, Because> {
        let (server, profile) = (self.offer.origin, &self.terms.declared.origin);
        let is_tool = id.kind == CapabilityKind::Tool;
        let selected = if is_tool { self.selected.judge(&id.name) } else { Ok(None) };
        let selected = selected.map_err(|rule| Because::new(rule, server))?;
        match (self.seeing.judge(id.server.as_str(), path, tags), selected) {
            (Said::Hides(rule), _) => Err(Because::new(rule, profile)),
            (Said::Sees(rule), _) => Ok(Because::new(rule, profile)),
            (Said::Nothing, Some(rule)) => Ok(Because::new(rule, server)),
            (Said::Nothing, None) => Ok(Because::new(self.everything.as_str(), profile)),
        }
    }
}
