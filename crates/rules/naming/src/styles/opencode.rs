//! opencode's: `server_tool`, kept whole.

use crate::bounds::Bounds;
use crate::names::{Member, Wish};

pub(super) fn wish(member: &Member<'_>, bounds: Bounds) -> Wish {
    Wish::fitted(member.joined("_", bounds), member, bounds)
}
