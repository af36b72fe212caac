//! Reads and writes the policy settings: `[policy]`, `[approvals]`, `[launch]` and `[pins]`.
//!
//! A restriction is not lost because of a typo: if a value cannot be parsed, the stricter one is
//! used and the error is reported. `rules/policy` interprets the rules.

use std::collections::BTreeMap;
use std::time::Duration;

use toolgate_model::{
    ApprovalChannel, ArgumentCondition, ConfigValue, ExpectedArgumentValue, PolicyMode, Posture,
    RuleSpec,
};

use super::write::{format_duration, set_fields, toml_compatible};
use crate::common::TableFields;
use crate::common::rules::{self, InvalidRuleHandling};
use crate::common::tree::{TreeNode, TreeValue};
use crate::losses::ConversionLosses;
use crate::{FileApprovalSettings, LocatedValue, Permissions, duration};

/// An example of a rule.
const LIKE: &str = "write \"mcp:server/tool\", or { about = \"mcp:server/*\", when = […] }";

pub(super) fn permissions(fields: &mut TableFields<'_>) -> Permissions {
    Permissions {
        mode: rules::mode(fields, &PolicyMode::WORDS),
        allow: list(fields, "allow", InvalidRuleHandling::Skip),
        ask: list(fields, "ask", InvalidRuleHandling::Keep),
        deny: list(fields, "deny", InvalidRuleHandling::Keep),
        taint: fields.strict("taint", true, TableFields::flag),
        yolo_floor: fields.strict("yolo_floor", true, TableFields::flag),
    }
}

fn list(
    fields: &mut TableFields<'_>,
    key: &'static str,
    unread: InvalidRuleHandling,
) -> Vec<RuleSpec> {
    let Some(node) = fields.node(key) else { return Vec::new() };
    let TreeValue::List(items) = &node.value else {
        // Reported like any other list.
        return rules::read_rules(fields, key, unread);
    };
    items.iter().filter_map(|item| rule(fields, key, item, unread)).collect()
}

fn rule(
    fields: &mut TableFields<'_>,
    key: &str,
    item: &TreeNode,
    unread: InvalidRuleHandling,
) -> Option<RuleSpec> {
    let at = fields.position_at(item.at);
    match &item.value {
        TreeValue::Text(about) => Some(rules::rule(about, at)),
        TreeValue::Table(members) => {
            let what = format!("a rule of `{key}`");
            let mut inner = fields.nested(what, item.at, members);
            let rule = RuleSpec { position: at, ..table(&mut inner) };
            if inner.finish_strict() {
                return Some(rule);
            }
            fields.mark_unusable();
            // Without its conditions the rule matches more, which is safe if it restricts.
            let wider = rules::rule(&rule.subject, at);
            (unread == InvalidRuleHandling::Keep).then_some(wider)
        }
        other => {
            fields.error_at(item.at, &format!("has {} among `{key}`", other.kind()), LIKE);
            (unread == InvalidRuleHandling::Keep).then(|| rules::invalid_rule(at))
        }
    }
}

fn table(fields: &mut TableFields<'_>) -> RuleSpec {
    let about = fields.owned_text("about");
    if about.is_none() {
        fields.fail("has no `about`", LIKE);
    }
    let client = fields.owned_text("client");
    let profile = fields.owned_text("profile");
    let mut when = Vec::new();
    for item in fields.list("when").unwrap_or_default() {
        when.extend(condition(fields, item));
    }
    RuleSpec { subject: about.unwrap_or_default(), client, profile, when, position: (0, 0) }
}

/// Reads a condition on one argument.
fn condition(fields: &mut TableFields<'_>, item: &TreeNode) -> Option<ArgumentCondition> {
    let hint = "write it like { at = \"/path\", glob = \"/srv/*\" }";
    let TreeValue::Table(members) = &item.value else {
        fields.error_at(item.at, &format!("has {} among `when`", item.value.kind()), hint);
        return None;
    };
    let mut inner = fields.nested("a condition", item.at, members);
    let at = inner.owned_text("at");
    match &at {
        None => inner.fail("has no `at`", hint),
        // The empty pointer refers to all arguments.
        Some(at) if !at.is_empty() && !at.starts_with('/') => {
            inner.fail("has an invalid `at`: a JSON pointer begins with /", hint);
        }
        Some(_) => {}
    }
    let glob = inner.owned_text("glob");
    let value = inner.node("equals").map(TreeNode::data);
    let is = match (glob, value) {
        (Some(glob), None) => Some(ExpectedArgumentValue::Glob(glob)),
        (None, Some(value)) => Some(ExpectedArgumentValue::Value(value)),
        _ => {
            inner.fail("needs either `glob` or `equals`", hint);
            None
        }
    };
    match inner.finish_strict() {
        true => Some(ArgumentCondition { pointer: at?, expected: is? }),
        false => {
            fields.mark_unusable();
            None
        }
    }
}

pub(super) fn posture(top: &mut TableFields<'_>) -> Option<LocatedValue<Posture>> {
    top.with_table("launch", |inner| {
        let words = Posture::ALL.map(|it| (it.as_str(), it));
        inner.strict("posture", Posture::Governed, |it, key| it.choice(key, &words))
    })
    .flatten()
}

/// Reads how old a list may be. `"0s"` is allowed: the list is checked before every call.
pub(super) fn recheck(top: &mut TableFields<'_>) -> Option<LocatedValue<Duration>> {
    top.with_table("pins", |inner| {
        inner.strict("recheck", Duration::ZERO, |it, key| {
            let is_zero = it.node(key)?.text().is_some_and(duration::is_zero);
            if is_zero { Some(Duration::ZERO) } else { time(it, key) }
        })
    })
    .flatten()
}

pub(super) fn approvals(top: &mut TableFields<'_>) -> FileApprovalSettings {
    let read = top.with_table("approvals", |inner| {
        let mut said = FileApprovalSettings {
            via: via(inner),
            wait: inner.located("wait", time),
            expiry: inner.located("expiry", time),
            from_client_terminal: inner.located("from_client_terminal", TableFields::flag),
            clients: BTreeMap::new(),
        };
        inner.with_table("clients", |clients| {
            let like = "{ via = \"client\" }";
            clients.each_table("approvals of client", like, |member, client| {
                said.clients.extend(via(client).map(|via| (member.key.clone(), via)));
            });
        });
        said
    });
    read.unwrap_or_default()
}

fn via(fields: &mut TableFields<'_>) -> Option<LocatedValue<ApprovalChannel>> {
    let words = ApprovalChannel::ALL.map(|it| (it.as_str(), it));
    fields.strict("via", ApprovalChannel::Operator, |it, key| it.choice(key, &words))
}

/// Reads a duration with a unit.
pub(super) fn time(fields: &mut TableFields<'_>, key: &'static str) -> Option<Duration> {
    let node = fields.node(key)?;
    let read = match &node.value {
        TreeValue::Text(text) => duration::parse(text),
        TreeValue::Integer(_) => Err("it has no unit"),
        other => Err(other.kind()),
    };
    let problem = |why| format!("has an invalid `{key}`: {why}");
    let told = |why| {
        fields.error_with_value(node.at, &problem(why), "write it like \"500ms\", \"30s\", \"10m\"")
    };
    read.map_err(told).ok()
}

pub(super) fn permission_fields(
    permissions: &Permissions,
    losses: &mut ConversionLosses,
) -> Vec<(String, ConfigValue)> {
    let Permissions { mode, allow, ask, deny, taint, yolo_floor } = permissions;
    let mut rules = |rules: &[RuleSpec]| {
        let written: Vec<_> = rules.iter().filter_map(|rule| rule_data(rule, losses)).collect();
        (!written.is_empty()).then_some(ConfigValue::List(written))
    };
    set_fields([
        ("mode", mode.map(|it| ConfigValue::text(it.value.as_str()))),
        ("allow", rules(allow)),
        ("ask", rules(ask)),
        ("deny", rules(deny)),
        ("taint", taint.map(|it| ConfigValue::Bool(it.value))),
        ("yolo_floor", yolo_floor.map(|it| ConfigValue::Bool(it.value))),
    ])
}

fn rule_data(rule: &RuleSpec, losses: &mut ConversionLosses) -> Option<ConfigValue> {
    let RuleSpec { subject: about, client, profile, when, position: _ } = rule;
    if client.is_none() && profile.is_none() && when.is_empty() {
        return Some(ConfigValue::text(about));
    }
    let mut conditions = Vec::new();
    for ArgumentCondition { pointer, expected } in when {
        let (key, value) = match expected {
            ExpectedArgumentValue::Glob(glob) => ("glob", ConfigValue::text(glob)),
            ExpectedArgumentValue::Value(value) => {
                let field = format!("permissions: the rule about {about:?}");
                ("equals", toml_compatible(value, &field, losses).filter(|it| it == value)?)
            }
        };
        let fields = set_fields([("at", Some(ConfigValue::text(pointer))), (key, Some(value))]);
        conditions.push(ConfigValue::Table(fields));
    }
    Some(ConfigValue::Table(set_fields([
        ("about", Some(ConfigValue::text(about))),
        ("client", client.as_ref().map(ConfigValue::text)),
        ("profile", profile.as_ref().map(ConfigValue::text)),
        ("when", (!conditions.is_empty()).then_some(ConfigValue::List(conditions))),
    ])))
}

pub(super) fn approval_fields(approvals: &FileApprovalSettings) -> Vec<(String, ConfigValue)> {
    let FileApprovalSettings { via, clients, wait, expiry, from_client_terminal } = approvals;
    let word = |via: LocatedValue<ApprovalChannel>| ConfigValue::text(via.value.as_str());
    let time = |time: LocatedValue<Duration>| ConfigValue::Text(format_duration(time.value));
    let clients: Vec<_> = clients
        .iter()
        .map(|(name, via)| (name.clone(), ConfigValue::Table(vec![("via".to_owned(), word(*via))])))
        .collect();
    let clients = (!clients.is_empty()).then_some(ConfigValue::Table(clients));
    set_fields([
        ("via", via.map(word)),
        ("wait", wait.map(time)),
        ("expiry", expiry.map(time)),
        ("from_client_terminal", from_client_terminal.map(|it| ConfigValue::Bool(it.value))),
        ("clients", clients),
    ])
}
