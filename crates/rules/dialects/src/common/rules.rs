//! Reads and writes permission rules as hosts write them: lists of strings, each with its position.
//!
//! `rules/policy` interprets the rules. A restricting rule is never lost because of a typo: a rule
//! that cannot be read is kept as an invalid rule, and calls it may match need approval.

use toolgate_model::{ConfigValue, Effect, PolicyMode, RuleSpec};

use super::TableFields;
use super::tree::TreeNode;
use crate::dialect_format::WrittenSettings;
use crate::losses::ConversionLosses;
use crate::{FileSettings, LocatedValue, Permissions};

/// The rule for every tool of every server.
pub(crate) const EVERY_TOOL: &str = "mcp:*/*";

/// What to do with a rule that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InvalidRuleHandling {
    /// Ignore it: it would have allowed something.
    Skip,
    /// Keep it as an invalid rule.
    Keep,
}

/// Reads a list of rules. Reports items that are not strings.
pub(crate) fn read_rules(
    fields: &mut TableFields<'_>,
    key: &'static str,
    unread: InvalidRuleHandling,
) -> Vec<RuleSpec> {
    let Some(node) = fields.node(key) else { return Vec::new() };
    let report = |fields: &mut TableFields<'_>, found: &TreeNode| {
        let kind = found.value.kind();
        let problem = format!("has {kind} where `{key}` must be a list of strings");
        fields.error_at(found.at, &problem, &format!("make `{key}` a list of strings"));
        (unread == InvalidRuleHandling::Keep).then(|| invalid_rule(fields.position_at(found.at)))
    };
    let Some(items) = node.list() else { return report(fields, node).into_iter().collect() };
    let mut rules = Vec::new();
    for item in items {
        rules.extend(match item.text() {
            Some(text) => Some(rule(text, fields.position_at(item.at))),
            None => report(fields, item),
        });
    }
    rules
}

/// Reads the mode. An unknown word means `ask`, so that a typo does not loosen anything.
pub(crate) fn mode(
    fields: &mut TableFields<'_>,
    words: &[(&'static str, PolicyMode)],
) -> Option<LocatedValue<PolicyMode>> {
    fields.strict("mode", PolicyMode::Ask, |it, key| it.choice(key, words))
}

/// Returns a rule without conditions.
pub(crate) fn rule(about: &str, at: (u32, u32)) -> RuleSpec {
    RuleSpec { subject: about.to_owned(), position: at, ..RuleSpec::default() }
}

/// Returns a rule of which only the position is known.
pub(crate) fn invalid_rule(at: (u32, u32)) -> RuleSpec {
    RuleSpec { position: at, ..RuleSpec::default() }
}

/// Returns the texts of rules, for a dialect without conditions. A rule with conditions is a loss,
/// because without them it would be a different rule.
pub(crate) fn rule_texts(
    effect: Effect,
    rules: &[RuleSpec],
    losses: &mut ConversionLosses,
) -> Vec<String> {
    let mut texts = Vec::new();
    for rule in rules {
        let RuleSpec { subject: about, client, profile, when, position: _ } = rule;
        match client.is_none() && profile.is_none() && when.is_empty() {
            true => texts.push(about.clone()),
            false => {
                let why = format!(
                    "the rule about {about:?} has conditions, which this dialect does not support"
                );
                losses.add(format!("permissions.{effect}"), why);
            }
        }
    }
    texts
}

/// Returns the permissions, for a dialect that writes them. Every other setting is a loss, and so
/// are permission settings that only Toolgate's dialect can express.
pub(crate) fn take_permissions(
    settings: &FileSettings,
    losses: &mut ConversionLosses,
) -> Permissions {
    let permissions = Permissions::default();
    losses.add_settings(&FileSettings { permissions, ..settings.clone() });
    losses.add_if_set("policy.taint", settings.permissions.taint.is_some());
    losses.add_if_set("policy.yolo_floor", settings.permissions.yolo_floor.is_some());
    settings.permissions.clone()
}

/// How a host writes its permissions.
pub(crate) struct PermissionKeys {
    /// The path of their table.
    pub path: &'static [&'static str],
    pub mode: &'static str,
    /// The names of modes; the first name of a mode is the one that is written.
    pub modes: &'static [(&'static str, PolicyMode)],
    /// The lists that allow, ask and deny.
    pub lists: [&'static str; 3],
}

impl PermissionKeys {
    /// Reads the lists of rules.
    pub fn read_lists(&self, fields: &mut TableFields<'_>) -> Permissions {
        let [allow, ask, deny] = self.lists;
        Permissions {
            allow: read_rules(fields, allow, InvalidRuleHandling::Skip),
            ask: read_rules(fields, ask, InvalidRuleHandling::Keep),
            deny: read_rules(fields, deny, InvalidRuleHandling::Keep),
            ..Permissions::default()
        }
    }

    /// Returns the table with the mode and the lists, unless it is empty. Every other setting is a
    /// loss.
    pub fn write(&self, settings: &FileSettings, losses: &mut ConversionLosses) -> WrittenSettings {
        let Permissions { mode, allow, ask, deny, .. } = take_permissions(settings, losses);
        let word = mode.and_then(|mode| self.modes.iter().find(|(_, meant)| *meant == mode.value));
        let word = word.map(|(word, _)| (self.mode.to_owned(), ConfigValue::text(*word)));
        let mut fields: Vec<_> = word.into_iter().collect();
        let rules = [(Effect::Allow, allow), (Effect::Ask, ask), (Effect::Deny, deny)];
        for ((effect, rules), key) in rules.into_iter().zip(self.lists) {
            let texts = rule_texts(effect, &rules, losses);
            if !texts.is_empty() {
                fields.push((key.to_owned(), ConfigValue::texts(texts)));
            }
        }
        match fields.is_empty() {
            true => Vec::new(),
            false => vec![(self.path, ConfigValue::Table(fields))],
        }
    }
}
