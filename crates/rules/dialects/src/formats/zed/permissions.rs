//! Zed's permissions: `agent.tool_permissions`, with a default and settings of single tools. Zed's
//! own tools and patterns on arguments are ignored.

use toolgate_model::{ConfigValue, Effect};

use crate::common::TableFields;
use crate::common::rules;
use crate::dialect_format::{RuleTranslation, WrittenSettings};
use crate::losses::ConversionLosses;
use crate::{FileSettings, LocatedValue, Permissions, PolicyMode};

/// The prefix of tool names: `mcp:<server>:<tool>`.
const PREFIX: &str = "mcp:";
/// The rule for every tool.
const EVERY: &str = "*";
const WORDS: [(&str, Effect); 3] =
    [("confirm", Effect::Ask), ("allow", Effect::Allow), ("deny", Effect::Deny)];

/// Reads the permissions.
pub(super) fn read(top: &mut TableFields<'_>) -> Permissions {
    let mut permissions = Permissions::default();
    let Some((at, members)) = top.table("agent") else { return permissions };
    let mut agent = top.nested("`agent`", at, members);
    agent.with_table("tool_permissions", |fields| {
        match fields.located("default", |it, key| it.choice(key, &WORDS)) {
            Some(LocatedValue { value: Effect::Deny, at }) => {
                permissions.deny.push(rules::rule(EVERY, at));
            }
            Some(LocatedValue { value, at }) => {
                let is_allowed = value == Effect::Allow;
                let value = if is_allowed { PolicyMode::Full } else { PolicyMode::Ask };
                permissions.mode = Some(LocatedValue { value, at });
            }
            None => {}
        }
        tools(fields, &mut permissions);
    });
    permissions
}

fn tools(fields: &mut TableFields<'_>, into: &mut Permissions) {
    let Some((_, members)) = fields.table("tools") else { return };
    for member in members.iter().filter(|member| member.key.starts_with(PREFIX)) {
        let what = format!("tool {:?}", member.key);
        let Some(inner) = member.node.table() else {
            let problem = format!("{what} is {}, not a table", member.node.value.kind());
            fields.diagnostics.error(member.node.at, problem, "give it a `default`");
            continue;
        };
        let mut inner = fields.nested(what, member.at, inner);
        let mut word = inner.choice("default", &WORDS);
        let hint = "patterns on tool arguments are not supported";
        if inner.has("always_allow") {
            inner.warn("always_allow", "has no effect", hint);
        }
        for key in ["always_confirm", "always_deny"] {
            if inner.has(key) {
                inner.warn(key, "is read as asking before every call", hint);
                // It cannot tell which calls the pattern matches.
                word = word.filter(|word| *word == Effect::Deny).or(Some(Effect::Ask));
            }
        }
        inner.finish();
        let rule = rules::rule(&member.key, fields.position_at(member.at));
        match word {
            Some(Effect::Ask) => into.ask.push(rule),
            Some(Effect::Allow) => into.allow.push(rule),
            Some(Effect::Deny) => into.deny.push(rule),
            None => {}
        }
    }
}

/// Returns the fields and values to write for the permissions. `limited` corresponds to `confirm`:
/// allowed calls pass.
pub(super) fn write(settings: &FileSettings, losses: &mut ConversionLosses) -> WrittenSettings {
    let Permissions { mode, allow, ask, deny, .. } = rules::take_permissions(settings, losses);
    let every = deny.iter().any(|rule| rule.subject == EVERY);
    let default = match mode.map(|mode| mode.value) {
        _ if every => Some("deny"),
        Some(PolicyMode::Full) => Some("allow"),
        Some(PolicyMode::Ask | PolicyMode::Limited) => Some("confirm"),
        None => None,
    };
    let mut written = WrittenSettings::new();
    written.extend(default.map(|word| (DEFAULT, ConfigValue::text(word))));
    let mut tools = Vec::new();
    for (effect, said, word) in [
        (Effect::Allow, allow, "allow"),
        (Effect::Ask, ask, "confirm"),
        (Effect::Deny, deny, "deny"),
    ] {
        for rule in rules::rule_texts(effect, &said, losses).into_iter().filter(|it| it != EVERY) {
            match split_tool_key(&rule) {
                Some(_) => {
                    let fields = vec![("default".to_owned(), ConfigValue::text(word))];
                    tools.push((rule, ConfigValue::Table(fields)));
                }
                None => losses.add("permissions", format!("Zed has no rule like {rule:?}")),
            }
        }
    }
    if !tools.is_empty() {
        written.push((TOOLS, ConfigValue::Table(tools)));
    }
    written
}

/// Returns the server and the tool of a key.
fn split_tool_key(key: &str) -> Option<(&str, &str)> {
    key.strip_prefix(PREFIX)?.split_once(':')
}

/// Translates a key into Toolgate's rule syntax.
pub(super) fn translate_rule(key: &str) -> RuleTranslation {
    match split_tool_key(key) {
        _ if key == EVERY => RuleTranslation::Rule(rules::EVERY_TOOL.to_owned()),
        Some((server, tool)) => RuleTranslation::Rule(format!("mcp:{server}/{tool}")),
        None => RuleTranslation::HostTool,
    }
}

const DEFAULT: &[&str] = &["agent", "tool_permissions", "default"];
const TOOLS: &[&str] = &["agent", "tool_permissions", "tools"];
