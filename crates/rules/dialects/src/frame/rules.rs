//! Rules about calls as hosts write them: lists of texts, each with its place.
//!
//! What a text means is for `rules/policy`. A rule that restricts is never lost by a slip of the
//! pen: what cannot be read stays as a rule that nobody understands, and those are asked about.

use toolgate_model::{Data, Effect, Mode, WrittenRule};

use super::Fields;
use super::tree::Value;
use crate::losses::Losses;
use crate::{Permissions, Said};

/// The rule of every tool of every server.
pub(crate) const EVERY_TOOL: &str = "mcp:*/*";

/// What becomes of a rule that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    /// It is left out: it would have opened something.
    LeftOut,
    /// It is kept as one that nobody understands.
    Kept,
}

/// A list of texts, each a rule. One that is no text is reported.
pub(crate) fn texts(
    fields: &mut Fields<'_, '_, '_>,
    key: &'static str,
    unread: Unread,
) -> Vec<WrittenRule> {
    let Some(node) = fields.node(key) else { return Vec::new() };
    let mut rules = Vec::new();
    let bad = |fields: &mut Fields<'_, '_, '_>, at: usize, kind: &str| {
        let problem = format!("has {kind} where `{key}` must be a list of strings");
        fields.fault(at, &problem, &format!("make `{key}` a list of strings"));
        (unread == Unread::Kept).then(|| unreadable(fields.place(at)))
    };
    match &node.value {
        Value::List(items) => {
            for item in items {
                match &item.value {
                    Value::Text(text) => rules.push(rule(text, fields.place(item.at))),
                    other => rules.extend(bad(fields, item.at, other.kind())),
                }
            }
        }
        other => rules.extend(bad(fields, node.at, other.kind())),
    }
    rules
}

/// The mode. A word that is none of them does not open what it may have closed.
pub(crate) fn mode(
    fields: &mut Fields<'_, '_, '_>,
    words: &[(&'static str, Mode)],
) -> Option<Said<Mode>> {
    fields.node("mode")?;
    let mode = fields.choice("mode", words).unwrap_or(Mode::Ask);
    fields.said("mode", Some(mode))
}

/// A rule that is a text and nothing else.
pub(crate) fn rule(about: &str, at: (u32, u32)) -> WrittenRule {
    WrittenRule { about: about.to_owned(), at, ..WrittenRule::default() }
}

/// A rule of which only the place is known.
pub(crate) fn unreadable(at: (u32, u32)) -> WrittenRule {
    WrittenRule { at, ..WrittenRule::default() }
}

/// The texts of rules, for a dialect that has no other ones. A rule with conditions is a loss:
/// without them it would be another rule.
pub(crate) fn written(effect: Effect, rules: &[WrittenRule], losses: &mut Losses) -> Vec<String> {
    let mut texts = Vec::new();
    for rule in rules {
        let WrittenRule { about, client, profile, when, at: _ } = rule;
        match client.is_none() && profile.is_none() && when.is_empty() {
            true => texts.push(about.clone()),
            false => {
                let why =
                    format!("the rule about {about:?} has conditions, which are unknown here");
                losses.add(format!("permissions.{effect}"), why);
            }
        }
    }
    texts
}

/// The same as a field of a table, unless there are none.
pub(crate) fn field(
    key: &str,
    effect: Effect,
    rules: &[WrittenRule],
    losses: &mut Losses,
) -> Option<(String, Data)> {
    let texts = written(effect, rules, losses);
    (!texts.is_empty()).then(|| (key.to_owned(), Data::texts(texts)))
}

/// What no other dialect has words for.
pub(crate) fn beyond(permissions: &Permissions, losses: &mut Losses) {
    losses.unsaid("policy.taint", permissions.taint.is_some());
    losses.unsaid("policy.yolo_floor", permissions.yolo_floor.is_some());
}
