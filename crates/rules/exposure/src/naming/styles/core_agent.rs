//! core-agent: `server_tool` in letters, digits and underscores.
//!
//! core-agent itself only replaces characters in the server's name and lets the provider refuse the
//! rest. Here the whole name uses the alphabet.

use crate::naming::bounds::NameBounds;
use crate::naming::candidates::{NameChoices, NamingCandidate};

pub(super) fn name_choices(member: &NamingCandidate<'_>, bounds: NameBounds) -> NameChoices {
    NameChoices::from_name(member.qualified_name("_", bounds), member, bounds)
}
