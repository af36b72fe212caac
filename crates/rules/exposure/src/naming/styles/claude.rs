//! Claude Code and Nyzhi: `mcp__server__tool`, never shortened in the middle.

use crate::naming::bounds::NameBounds;
use crate::naming::candidates::{NameChoices, NamingCandidate};

pub(super) fn name_choices(member: &NamingCandidate<'_>, bounds: NameBounds) -> NameChoices {
    NameChoices::from_name(format!("mcp__{}", member.qualified_name("__", bounds)), member, bounds)
}
