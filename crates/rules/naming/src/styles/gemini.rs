//! Gemini CLI's: `mcp_server_tool`; of a long name the middle is left out.

use crate::bounds::Bounds;
use crate::names::{Member, Wish};

const PREFIX: &str = "mcp_";
/// What stays of each end of a long name.
const KEPT: usize = 30;

pub(super) fn wish(member: &Member<'_>, bounds: Bounds) -> Wish {
    // A server that is called so itself is not called so twice.
    let has_prefix = format!("{}_{}", member.id.server, member.name).starts_with(PREFIX);
    let prefix = if has_prefix { "" } else { PREFIX };
    let name = format!("{prefix}{}", member.joined("_", bounds));
    let cut = match name.len() <= bounds.max {
        true => name.clone(),
        false => format!("{}...{}", &name[..KEPT], &name[name.len() - KEPT..]),
    };
    Wish { plain: vec![cut], base: name }
}
