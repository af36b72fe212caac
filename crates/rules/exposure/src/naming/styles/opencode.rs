//! opencode: `server_tool`, never shortened in the middle.

use crate::naming::bounds::NameBounds;
use crate::naming::candidates::{NameChoices, NamingCandidate};

pub(super) fn name_choices(member: &NamingCandidate<'_>, bounds: NameBounds) -> NameChoices {
    NameChoices::from_name(member.qualified_name("_", bounds), member, bounds)
}
