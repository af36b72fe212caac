//! Finds the pinned definition behind a capability.
//!
//! A tool, a prompt and a template have their own. A resource that is not listed is read through
//! the templates its URI fits and depends on their pins: changing a template changes what is read
//! through it. A listed resource does not depend on templates.

use toolgate_exposure::ExposureReason;
use toolgate_model::{CapabilityId, CapabilityKind};
use toolgate_pins::is_pinned_kind;

use crate::profile_view::ProfileView;

impl ProfileView {
    /// Returns why a capability must not be used, regardless of the rules.
    pub(crate) fn block_reason(&self, id: &CapabilityId) -> Option<&ExposureReason> {
        self.withheld.reason_for(id).or_else(|| {
            let nothing = self.withheld.reasons.is_empty(); // the usual case
            if nothing { None } else { self.template_block_reason(id) }
        })
    }

    /// Returns why a resource must not be read, if none of the templates it fits may be used.
    fn template_block_reason(&self, id: &CapabilityId) -> Option<&ExposureReason> {
        let mut why: Option<(&CapabilityId, &ExposureReason)> = None;
        for template in self.templates_of(id) {
            let because = self.withheld.reason_for(template)?;
            if why.is_none_or(|(first, _)| template < first) {
                why = Some((template, because));
            }
        }
        why.map(|(_, because)| because)
    }

    /// Returns the list that holds the pinned definition of a capability; `None` if no definition
    /// is pinned.
    pub(crate) fn pinned_list(&self, id: &CapabilityId) -> Option<CapabilityKind> {
        if is_pinned_kind(id.kind) {
            return Some(id.kind);
        }
        self.templates_of(id).next().map(|template| template.kind)
    }

    /// Returns the templates through which an unlisted resource is read.
    fn templates_of<'a>(
        &'a self,
        id: &'a CapabilityId,
    ) -> impl Iterator<Item = &'a CapabilityId> + 'a {
        let unlisted = id.kind == CapabilityKind::Resource && self.names().name_of(id).is_none();
        let templates = unlisted.then(|| self.names().templates_for(&id.server, &id.name));
        templates.into_iter().flatten()
    }
}
