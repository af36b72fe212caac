//! Claude Code's permissions: `permissions.{allow, ask, deny, defaultMode}` of its settings. Rules
//! about its own tools are kept, but have no effect in Toolgate.

use toolgate_model::{ConfigValue, Effect};

use crate::common::TableFields;
use crate::common::rules::{self, InvalidRuleHandling};
use crate::dialect_format::RuleTranslation;
use crate::losses::ConversionLosses;
use crate::{Permissions, PolicyMode};

const MODE: &str = "defaultMode";
/// The prefix of tool names: `mcp__<server>__<tool>`, or `mcp__<server>` for all tools.
const PREFIX: &str = "mcp__";

/// Reads the permissions, and ignores everything else.
pub(super) fn read(top: &mut TableFields<'_, '_, '_>) -> Permissions {
    let Some((at, members)) = top.table("permissions") else { return Permissions::default() };
    let mut fields = TableFields::of(top.diagnostics(), "`permissions`".to_owned(), at, members);
    let mode = fields.text(MODE).map(mode);
    Permissions {
        mode: fields.with_position(MODE, mode),
        allow: rules::read_rules(&mut fields, "allow", InvalidRuleHandling::Skip),
        ask: rules::read_rules(&mut fields, "ask", InvalidRuleHandling::Keep),
        deny: rules::read_rules(&mut fields, "deny", InvalidRuleHandling::Keep),
        ..Permissions::default()
    }
}

/// Returns the mode. An unknown mode asks, because it may be newer than Toolgate.
fn mode(word: &str) -> PolicyMode {
    match word {
        "bypassPermissions" => PolicyMode::Full,
        "dontAsk" => PolicyMode::Limited,
        _ => PolicyMode::Ask,
    }
}

/// Returns the fields and values to write for the permissions.
pub(super) fn write(
    permissions: &Permissions,
    losses: &mut ConversionLosses,
) -> Vec<(&'static [&'static str], ConfigValue)> {
    let Permissions { mode, allow, ask, deny, .. } = permissions;
    rules::report_unsupported(permissions, losses);
    let word = mode.map(|mode| match mode.value {
        PolicyMode::Ask => "default",
        PolicyMode::Limited => "dontAsk",
        PolicyMode::Full => "bypassPermissions",
    });
    let mut written: Vec<(&'static [&'static str], ConfigValue)> = Vec::new();
    written.extend(word.map(|word| (&["permissions", MODE][..], ConfigValue::text(word))));
    let lists: [(&[&str], _, _); 3] = [
        (&["permissions", "allow"], Effect::Allow, allow),
        (&["permissions", "ask"], Effect::Ask, ask),
        (&["permissions", "deny"], Effect::Deny, deny),
    ];
    for (path, effect, said) in lists {
        let texts = rules::rule_texts(effect, said, losses);
        if !texts.is_empty() {
            written.push((path, ConfigValue::texts(texts)));
        }
    }
    written
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
