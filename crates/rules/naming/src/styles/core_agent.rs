//! core-agent's: `server_tool` in letters, digits and underscores.
//!
//! core-agent itself replaces characters in the server's name only and lets the provider refuse the
//! rest; here the whole name keeps to the alphabet.

use crate::bounds::Bounds;
use crate::names::{Member, Wish};

pub(super) fn wish(member: &Member<'_>, bounds: Bounds) -> Wish {
    Wish::fitted(member.joined("_", bounds), member, bounds)
}
