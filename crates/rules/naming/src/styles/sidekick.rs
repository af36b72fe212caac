//! Sidekick's: the bare name or the alias. Its server is seen only where two would be the same.

use crate::bounds::Bounds;
use crate::names::{Member, Wish, fitted};

pub(super) fn wish(member: &Member<'_>, bounds: Bounds) -> Wish {
    let bare = fitted(&bounds.sanitised(member.name), member, bounds);
    Wish { plain: vec![bare], base: member.joined("__", bounds) }
}
