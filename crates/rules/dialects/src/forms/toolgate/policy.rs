//! What our own file says about decisions: `[policy]`, `[approvals]`, `[launch]` and `[pins]`.
//!
//! A word that restricts is not lost by a slip of the pen: where it cannot be understood, the
//! stricter one is taken and the slip is reported. What rules mean is for `rules/policy`.

use std::time::Duration;

use toolgate_model::{Condition, Data, Effect, Expected, Mode, Posture, Via, WrittenRule};

use super::write::{sayable, spelled};
use crate::frame::Fields;
use crate::frame::rules::{self, Unread};
use crate::frame::tree::{Node, Value};
use crate::losses::Losses;
use crate::{FileApprovals, Permissions, Said, duration};

/// How a rule is written.
const LIKE: &str = "write \"mcp:server/tool\", or { about = \"mcp:server/*\", when = […] }";

pub(super) fn permissions(fields: &mut Fields<'_, '_, '_>) -> Permissions {
    Permissions {
        mode: rules::mode(fields, &Mode::WORDS),
        allow: list(fields, "allow", Unread::LeftOut),
        ask: list(fields, "ask", Unread::Kept),
        deny: list(fields, "deny", Unread::Kept),
        taint: strict_flag(fields, "taint"),
        yolo_floor: strict_flag(fields, "yolo_floor"),
    }
}

/// A flag that restricts when it is set.
fn strict_flag(fields: &mut Fields<'_, '_, '_>, key: &'static str) -> Option<Said<bool>> {
    fields.node(key)?;
    let flag = fields.flag(key).unwrap_or(true);
    fields.said(key, Some(flag))
}

fn list(fields: &mut Fields<'_, '_, '_>, key: &'static str, unread: Unread) -> Vec<WrittenRule> {
    let Some(node) = fields.node(key) else { return Vec::new() };
    let Value::List(items) = &node.value else {
        // Reported as any list would be.
        return rules::texts(fields, key, unread);
    };
    items.iter().filter_map(|item| rule(fields, key, item, unread)).collect()
}

fn rule(
    fields: &mut Fields<'_, '_, '_>,
    key: &str,
    item: &Node,
    unread: Unread,
) -> Option<WrittenRule> {
    let at = fields.place(item.at);
    match &item.value {
        Value::Text(about) => Some(rules::rule(about, at)),
        Value::Table(members) => {
            let what = format!("a rule of `{key}`");
            let mut inner = Fields::of(fields.report(), what, item.at, members);
            let rule = WrittenRule { at, ..table(&mut inner) };
            if inner.finish_whole() {
                return Some(rule);
            }
            fields.spoil();
            // Without the rest it is about more: that is safe where it restricts.
            let wider = rules::rule(&rule.about, at);
            (unread == Unread::Kept).then_some(wider)
        }
        other => {
            fields.fault(item.at, &format!("has {} among `{key}`", other.kind()), LIKE);
            (unread == Unread::Kept).then(|| rules::unreadable(at))
        }
    }
}

fn table(fields: &mut Fields<'_, '_, '_>) -> WrittenRule {
    let about = fields.text("about").map(str::to_owned);
    if about.is_none() {
        fields.fail("does not say what it is `about`", LIKE);
    }
    let client = fields.text("client").map(str::to_owned);
    let profile = fields.text("profile").map(str::to_owned);
    let mut when = Vec::new();
    for item in fields.list("when").unwrap_or_default() {
        when.extend(condition(fields, item));
    }
    WrittenRule { about: about.unwrap_or_default(), client, profile, when, at: (0, 0) }
}

/// What must hold of one argument.
fn condition(fields: &mut Fields<'_, '_, '_>, item: &Node) -> Option<Condition> {
    let hint = "write it like { at = \"/path\", glob = \"/srv/*\" }";
    let Value::Table(members) = &item.value else {
        fields.fault(item.at, &format!("has {} among `when`", item.value.kind()), hint);
        return None;
    };
    let mut inner = Fields::of(fields.report(), "a condition".to_owned(), item.at, members);
    let at = inner.text("at").map(str::to_owned);
    match &at {
        None => inner.fail("does not say `at` which argument it looks", hint),
        // The whole of the arguments has the empty pointer.
        Some(at) if !at.is_empty() && !at.starts_with('/') => {
            inner.fail("looks `at` no place: a JSON pointer begins with /", hint);
        }
        Some(_) => {}
    }
    let glob = inner.text("glob").map(str::to_owned);
    let value = inner.node("equals").map(Node::data);
    let is = match (glob, value) {
        (Some(glob), None) => Some(Expected::Glob(glob)),
        (None, Some(value)) => Some(Expected::Value(value)),
        _ => {
            inner.fail("needs either `glob` or `equals`", hint);
            None
        }
    };
    match inner.finish_whole() {
        true => Some(Condition { at: at?, is: is? }),
        false => {
            fields.spoil();
            None
        }
    }
}

pub(super) fn posture(top: &mut Fields<'_, '_, '_>) -> Option<Said<Posture>> {
    top.within("launch", |inner| {
        inner.node("posture")?;
        let words = Posture::ALL.map(|it| (it.as_str(), it));
        let posture = inner.choice("posture", &words).unwrap_or(Posture::Governed);
        inner.said("posture", Some(posture))
    })
    .flatten()
}

/// How old a list may be. `"0s"` is said too: it is looked at before every call.
pub(super) fn recheck(top: &mut Fields<'_, '_, '_>) -> Option<Said<Duration>> {
    top.within("pins", |inner| {
        let node = inner.node("recheck")?;
        let zero = matches!(&node.value, Value::Text(text) if duration::is_zero(text));
        let time = if zero { Some(Duration::ZERO) } else { time(inner, "recheck") };
        // One that makes no sense was meant to be some time or other: none at all is the strictest.
        inner.said("recheck", Some(time.unwrap_or(Duration::ZERO)))
    })
    .flatten()
}

pub(super) fn approvals(top: &mut Fields<'_, '_, '_>) -> FileApprovals {
    let mut said = FileApprovals::default();
    top.within("approvals", |inner| {
        said.via = via(inner);
        let wait = time(inner, "wait");
        said.wait = inner.said("wait", wait);
        let expiry = time(inner, "expiry");
        said.expiry = inner.said("expiry", expiry);
        let from_client_terminal = inner.flag("from_client_terminal");
        said.from_client_terminal = inner.said("from_client_terminal", from_client_terminal);
        inner.within("clients", |clients| {
            let what = |client: &str| format!("approvals of client {client:?}");
            clients.each_table(what, "{ via = \"client\" }", |name, client| {
                said.clients.extend(via(client).map(|via| (name.to_owned(), via)));
            });
        });
    });
    said
}

fn via(fields: &mut Fields<'_, '_, '_>) -> Option<Said<Via>> {
    fields.node("via")?;
    let words = Via::ALL.map(|it| (it.as_str(), it));
    let via = fields.choice("via", &words).unwrap_or(Via::Operator);
    fields.said("via", Some(via))
}

/// A length of time as people write it.
pub(super) fn time(fields: &mut Fields<'_, '_, '_>, key: &'static str) -> Option<Duration> {
    let node = fields.node(key)?;
    let read = match &node.value {
        Value::Text(text) => duration::parse(text),
        Value::Integer(_) => Err("it has no unit"),
        other => Err(other.kind()),
    };
    let problem = |why| format!("cannot have this `{key}`: {why}");
    let told =
        |why| fields.wrong(node.at, &problem(why), "write it like \"500ms\", \"30s\", \"10m\"");
    read.map_err(told).ok()
}

/// What is said of decisions, and where it stands.
pub(super) fn write(
    settings: &crate::Settings,
    losses: &mut Losses,
) -> Vec<(&'static [&'static str], Data)> {
    let mut written: Vec<(&'static [&'static str], Data)> = Vec::new();
    let posture = settings.posture.map(|it| Data::text(it.value.as_str()));
    let recheck = settings.recheck.map(|it| Data::Text(spelled(it.value)));
    let tables = [
        (&["launch"][..], field("posture", posture).into_iter().collect()),
        (&["policy"][..], policy(&settings.permissions, losses)),
        (&["approvals"][..], asked(&settings.approvals)),
        (&["pins"][..], field("recheck", recheck).into_iter().collect()),
    ];
    let said = tables.into_iter().filter(|(_, fields): &(_, Vec<_>)| !fields.is_empty());
    written.extend(said.map(|(path, fields)| (path, Data::Table(fields))));
    written
}

fn field(key: &str, value: Option<Data>) -> Option<(String, Data)> {
    value.map(|value| (key.to_owned(), value))
}

fn policy(permissions: &Permissions, losses: &mut Losses) -> Vec<(String, Data)> {
    let Permissions { mode, allow, ask, deny, taint, yolo_floor } = permissions;
    let mut fields = Vec::new();
    fields.extend(field("mode", mode.map(|it| Data::text(it.value.as_str()))));
    for (effect, said) in [(Effect::Allow, allow), (Effect::Ask, ask), (Effect::Deny, deny)] {
        let written: Vec<_> = said.iter().filter_map(|rule| written(rule, losses)).collect();
        if !written.is_empty() {
            fields.push((effect.as_str().to_owned(), Data::List(written)));
        }
    }
    fields.extend(field("taint", taint.map(|it| Data::Flag(it.value))));
    fields.extend(field("yolo_floor", yolo_floor.map(|it| Data::Flag(it.value))));
    fields
}

fn written(rule: &WrittenRule, losses: &mut Losses) -> Option<Data> {
    let WrittenRule { about, client, profile, when, at: _ } = rule;
    if client.is_none() && profile.is_none() && when.is_empty() {
        return Some(Data::text(about));
    }
    let mut fields = vec![("about".to_owned(), Data::text(about))];
    fields.extend(field("client", client.as_ref().map(Data::text)));
    fields.extend(field("profile", profile.as_ref().map(Data::text)));
    let mut conditions = Vec::new();
    for Condition { at, is } in when {
        let is = match is {
            Expected::Glob(glob) => ("glob".to_owned(), Data::text(glob)),
            Expected::Value(value) => {
                let field = format!("permissions: the rule about {about:?}");
                ("equals".to_owned(), sayable(value, &field, losses).filter(|it| it == value)?)
            }
        };
        conditions.push(Data::Table(vec![("at".to_owned(), Data::text(at)), is]));
    }
    if !conditions.is_empty() {
        fields.push(("when".to_owned(), Data::List(conditions)));
    }
    Some(Data::Table(fields))
}

fn asked(approvals: &FileApprovals) -> Vec<(String, Data)> {
    let FileApprovals { via, clients, wait, expiry, from_client_terminal } = approvals;
    let word = |via: Said<Via>| Data::text(via.value.as_str());
    let time = |time: Said<Duration>| Data::Text(spelled(time.value));
    let clients: Vec<_> = clients
        .iter()
        .map(|(name, via)| (name.clone(), Data::Table(vec![("via".to_owned(), word(*via))])))
        .collect();
    let clients = (!clients.is_empty()).then_some(Data::Table(clients));
    let fields = [
        field("via", via.map(word)),
        field("wait", wait.map(time)),
        field("expiry", expiry.map(time)),
        field("from_client_terminal", from_client_terminal.map(|it| Data::Flag(it.value))),
        field("clients", clients),
    ];
    fields.into_iter().flatten().collect()
}
