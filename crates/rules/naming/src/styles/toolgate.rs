//! Ours: `server__tool`, or the bare name where the user wants that.

use toolgate_model::Prefix;

use crate::bounds::Bounds;
use crate::names::{Member, Wish, fitted};

pub(super) fn wishes(members: &[Member<'_>], prefix: Prefix, bounds: Bounds) -> Vec<Wish> {
    let narrow = narrow(bounds);
    let wish = |member: &Member<'_>| {
        let prefixed = member.joined("__", narrow);
        let bare = || fitted(&narrow.sanitised(member.name), member, narrow);
        let plain = match prefix {
            Prefix::Always => vec![fitted(&prefixed, member, narrow)],
            Prefix::OnCollision => vec![bare(), fitted(&prefixed, member, narrow)],
            Prefix::Never if bounds.allow(member.name) => vec![member.name.to_owned()],
            Prefix::Never => vec![bare()],
        };
        Wish { plain, base: prefixed }
    };
    members.iter().map(wish).collect()
}

/// What has to be changed anyway is within what every provider takes: the wider alphabet is for
/// names that stay as their server wrote them.
pub(super) fn narrow(bounds: Bounds) -> Bounds {
    Bounds { marks: "_-", ..bounds }
}
