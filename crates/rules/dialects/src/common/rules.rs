//! Reads and writes permission rules as hosts write them: lists of strings, each with its position.
//!
//! `rules/policy` interprets the rules. A restricting rule is never lost because of a typo: a rule
//! that cannot be read is kept as an invalid rule, and calls it may match need approval.

use toolgate_model::{ConfigValue, Effect, PolicyMode, RuleSpec};

use super::TableFields;
use super::tree::TreeValue;
use crate::losses::ConversionLosses;
use crate::{LocatedValue, Permissions};

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
    fields: &mut TableFields<'_, '_, '_>,
    key: &'static str,
    unread: InvalidRuleHandling,
) -> Vec<RuleSpec> {
    let Some(node) = fields.node(key) else { return Vec::new() };
    let mut rules = Vec::new();
    let bad = |fields: &mut TableFields<'_, '_, '_>, at: usize, kind: &str| {
        let problem = format!("has {kind} where `{key}` must be a list of strings");
        fields.error_at(at, &problem, &format!("make `{key}` a list of strings"));
        (unread == InvalidRuleHandling::Keep).then(|| invalid_rule(fields.position_at(at)))
    };
    match &node.value {
        TreeValue::List(items) => {
            for item in items {
                match &item.value {
                    TreeValue::Text(text) => rules.push(rule(text, fields.position_at(item.at))),
                    other => rules.extend(bad(fields, item.at, other.kind())),
                }
            }
        }
        other => rules.extend(bad(fields, node.at, other.kind())),
    }
    rules
}

/// Reads the mode. An unknown word means `ask`, so that a typo does not loosen anything.
pub(crate) fn mode(
    fields: &mut TableFields<'_, '_, '_>,
    words: &[(&'static str, PolicyMode)],
) -> Option<LocatedValue<PolicyMode>> {
    fields.node("mode")?;
    let mode = fields.choice("mode", words).unwrap_or(PolicyMode::Ask);
    fields.with_position("mode", Some(mode))
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

/// Returns the rules as a field of a table; `None` if there are none.
pub(crate) fn field(
    key: &str,
    effect: Effect,
    rules: &[RuleSpec],
    losses: &mut ConversionLosses,
) -> Option<(String, ConfigValue)> {
    let texts = rule_texts(effect, rules, losses);
    (!texts.is_empty()).then(|| (key.to_owned(), ConfigValue::texts(texts)))
}

/// Reports permission settings that only Toolgate's dialect can express.
pub(crate) fn report_unsupported(permissions: &Permissions, losses: &mut ConversionLosses) {
    losses.add_if_set("policy.taint", permissions.taint.is_some());
    losses.add_if_set("policy.yolo_floor", permissions.yolo_floor.is_some());
}
