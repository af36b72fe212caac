//! Sidekick: the bare name or the alias. The server's name is added only to separate equal names.

use crate::naming::bounds::NameBounds;
use crate::naming::candidates::{NameChoices, NamingCandidate, fit_name};

pub(super) fn name_choices(member: &NamingCandidate<'_>, bounds: NameBounds) -> NameChoices {
    let bare = fit_name(&bounds.sanitised(member.name), member, bounds);
    NameChoices { plain: vec![bare], base: member.qualified_name("__", bounds) }
}
