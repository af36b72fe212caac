//! Toolgate: `server__tool`, or the bare name if the user wants that.

use toolgate_model::PrefixMode;

use crate::naming::bounds::NameBounds;
use crate::naming::candidates::{NameChoices, NamingCandidate, fit_name};

pub(super) fn name_choices(
    members: &[NamingCandidate<'_>],
    prefix: PrefixMode,
    bounds: NameBounds,
) -> Vec<NameChoices> {
    let narrow = narrow(bounds);
    let wish = |member: &NamingCandidate<'_>| {
        let prefixed = member.qualified_name("__", narrow);
        let bare = || fit_name(&narrow.sanitised(member.name), member, narrow);
        let plain = match prefix {
            PrefixMode::Always => vec![fit_name(&prefixed, member, narrow)],
            PrefixMode::OnCollision => vec![bare(), fit_name(&prefixed, member, narrow)],
            PrefixMode::Never if bounds.allow(member.name) => vec![member.name.to_owned()],
            PrefixMode::Never => vec![bare()],
        };
        NameChoices { plain, base: prefixed }
    };
    members.iter().map(wish).collect()
}

/// Returns bounds that every provider accepts, for names that must be changed anyway. The wider
/// alphabet is for names that stay as their server wrote them.
pub(super) fn narrow(bounds: NameBounds) -> NameBounds {
    NameBounds { marks: "_-", ..bounds }
}
