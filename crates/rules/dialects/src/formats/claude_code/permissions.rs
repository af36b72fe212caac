//! Claude Code's permissions: `permissions.{allow, ask, deny, defaultMode}` of its settings. Rules
//! about its own tools are kept, but have no effect in Toolgate.

use toolgate_model::{ConfigValue, Effect};

use crate::common::TableFields;
use crate::common::rules::{self, InvalidRuleHandling};
use crate::dialect_format::{RuleTranslation, WrittenSettings};
use crate::losses::ConversionLosses;
use crate::{FileSettings, Permissions, PolicyMode};

const MODE: &str = "defaultMode";
/// The prefix of tool names: `mcp__<server>__<tool>`, or `mcp__<server>` for all tools.
const PREFIX: &str = "mcp__";

/// The names of modes. An unknown mode asks, because it may be newer than Toolgate.
const MODES: [(&str, PolicyMode); 3] = [
    ("default", PolicyMode::Ask),
    ("dontAsk", PolicyMode::Limited),
    ("bypassPermissions", PolicyMode::Full),
];

/// Reads the permissions, and ignores everything else.
pub(super) fn read(top: &mut TableFields<'_>) -> Permissions {
    let Some((at, members)) = top.table("permissions") else { return Permissions::default() };
    let mut fields = top.nested("`permissions`", at, members);
    let mode = fields.text(MODE).map(|word| {
        let known = MODES.iter().find(|(known, _)| *known == word);
        known.map_or(PolicyMode::Ask, |(_, mode)| *mode)
    });
    Permissions {
        mode: fields.with_position(MODE, mode),
        allow: rules::read_rules(&mut fields, "allow", InvalidRuleHandling::Skip),
        ask: rules::read_rules(&mut fields, "ask", InvalidRuleHandling::Keep),
        deny: rules::read_rules(&mut fields, "deny", InvalidRuleHandling::Keep),
        ..Permissions::default()
    }
}

/// Returns the permissions to write.
pub(super) fn write(settings: &FileSettings, losses: &mut ConversionLosses) -> WrittenSettings {
    let permissions = rules::take_permissions(settings, losses);
    let fields = rules::fields(&permissions, (MODE, &MODES), ["allow", "ask", "deny"], losses);
    match fields.is_empty() {
        true => Vec::new(),
        false => vec![(&["permissions"], ConfigValue::Table(fields))],
    }
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
