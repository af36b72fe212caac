//! Claude Code's and Nyzhi's: `mcp__server__tool`, kept whole.

use crate::bounds::Bounds;
use crate::names::{Member, Wish};

pub(super) fn wish(member: &Member<'_>, bounds: Bounds) -> Wish {
    Wish::fitted(format!("mcp__{}", member.joined("__", bounds)), member, bounds)
}
