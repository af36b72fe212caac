//! Which definition stands behind what is asked for.
//!
//! A tool, a prompt and a template have their own. A resource that no list names is read through the
//! template its URI fits, and stands and falls with that: whoever changes what a template promises
//! changes what is read through it. What a list names is no matter of templates.

use toolgate_exposure::Because;
use toolgate_model::{CapabilityId, CapabilityKind};
use toolgate_pins::is_pinned_kind;

use crate::view::View;

impl View {
    /// Why something must not be used, whatever anybody allows.
    pub(crate) fn blocked(&self, id: &CapabilityId) -> Option<&Because> {
        self.withheld.because(id).or_else(|| {
            let nothing = self.withheld.why.is_empty(); // as nearly always
            if nothing { None } else { self.blocked_through(id) }
        })
    }

    /// The same, of what is read through templates: if none that it fits may be used.
    fn blocked_through(&self, id: &CapabilityId) -> Option<&Because> {
        let mut why: Option<(&CapabilityId, &Because)> = None;
        for template in self.templates_of(id) {
            let because = self.withheld.because(template)?;
            if why.is_none_or(|(first, _)| template < first) {
                why = Some((template, because));
            }
        }
        why.map(|(_, because)| because)
    }

    /// The list in which the definition stands that something is used by; `None` if there is none
    /// that is pinned.
    pub(crate) fn pinned_in(&self, id: &CapabilityId) -> Option<CapabilityKind> {
        if is_pinned_kind(id.kind) {
            return Some(id.kind);
        }
        self.templates_of(id).next().map(|template| template.kind)
    }

    /// The templates through which something is read.
    fn templates_of<'a>(
        &'a self,
        id: &'a CapabilityId,
    ) -> impl Iterator<Item = &'a CapabilityId> + 'a {
        let unlisted = id.kind == CapabilityKind::Resource && self.names().name_of(id).is_none();
        let templates = unlisted.then(|| self.names().templates_for(&id.server, &id.name));
        templates.into_iter().flatten()
    }
}
