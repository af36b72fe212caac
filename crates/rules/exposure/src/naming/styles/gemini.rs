//! Gemini CLI: `mcp_server_tool`; a long name loses its middle.

use crate::naming::bounds::NameBounds;
use crate::naming::candidates::{NameChoices, NamingCandidate};

const PREFIX: &str = "mcp_";
/// The characters kept at each end of a long name.
const KEPT: usize = 30;

pub(super) fn name_choices(member: &NamingCandidate<'_>, bounds: NameBounds) -> NameChoices {
    // A server whose name starts with the prefix does not get it twice.
    let has_prefix = format!("{}_{}", member.id.server, member.name).starts_with(PREFIX);
    let prefix = if has_prefix { "" } else { PREFIX };
    let name = format!("{prefix}{}", member.qualified_name("_", bounds));
    let cut = match name.len() <= bounds.max {
        true => name.clone(),
        false => format!("{}...{}", &name[..KEPT], &name[name.len() - KEPT..]),
    };
    NameChoices { plain: vec![cut], base: name }
}
