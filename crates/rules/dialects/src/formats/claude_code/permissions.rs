//! Claude Code's permissions: `permissions.{allow, ask, deny, defaultMode}` of its settings. Rules
//! about its own tools are kept, but have no effect in Toolgate.

use toolgate_model::Effect;

use crate::common::TableFields;
use crate::common::rules::PermissionKeys;
use crate::dialect_format::RuleTranslation;
use crate::{Permissions, PolicyMode};

/// The prefix of tool names: `mcp__<server>__<tool>`, or `mcp__<server>` for all tools.
const PREFIX: &str = "mcp__";
/// The names of the fields. An unknown mode asks, because it may be newer than Toolgate.
pub(super) const KEYS: PermissionKeys = PermissionKeys {
    path: &["permissions"],
    mode: "defaultMode",
    modes: &[
        ("default", PolicyMode::Ask),
        ("dontAsk", PolicyMode::Limited),
        ("bypassPermissions", PolicyMode::Full),
    ],
    lists: ["allow", "ask", "deny"],
};

/// Reads the permissions, and ignores everything else.
pub(super) fn read(top: &mut TableFields<'_>) -> Permissions {
    let Some((at, members)) = top.table("permissions") else { return Permissions::default() };
    let mut fields = top.nested("`permissions`", at, members);
    let mode = fields.located(KEYS.mode, |it, key| {
        let word = it.text(key)?;
        let known = KEYS.modes.iter().find(|(known, _)| *known == word);
        Some(known.map_or(PolicyMode::Ask, |(_, mode)| *mode))
    });
    Permissions { mode, ..KEYS.read_lists(&mut fields) }
}

/// Translates a rule into Toolgate's syntax.
pub(super) fn translate_rule(effect: Effect, about: &str) -> RuleTranslation {
    let Some(name) = about.strip_prefix(PREFIX) else { return RuleTranslation::HostTool };
    let (name, rest) = match name.split_once('(') {
        Some((name, _)) => (name, true),
        None => (name, false),
    };
    // Without its condition on arguments the rule is wider, which is safe if it restricts.
    if rest && effect == Effect::Allow {
        return RuleTranslation::Ignored("its condition on arguments is not supported");
    }
    match name.split_once("__") {
        None | Some((_, "*")) => {
            let server = name.strip_suffix("__*").unwrap_or(name);
            RuleTranslation::Rule(format!("mcp:{server}/*"))
        }
        Some(_) => RuleTranslation::Rule(format!("{PREFIX}{name}")),
    }
}
