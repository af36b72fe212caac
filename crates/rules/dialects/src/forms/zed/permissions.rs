//! Zed's permissions: `agent.tool_permissions`, with a word for every tool and words for single
//! ones. Its own tools and patterns over what a tool is given are left alone.

use toolgate_model::{Data, Effect};

use crate::form::Meaning;
use crate::frame::Fields;
use crate::frame::rules;
use crate::frame::tree::Value;
use crate::losses::Losses;
use crate::{Mode, Permissions};

/// How the names of servers' tools begin: `mcp:<server>:<tool>`.
const PREFIX: &str = "mcp:";
/// The rule of every tool.
const EVERY: &str = "*";
const WORDS: [(&str, Word); 3] =
    [("confirm", Word::Confirm), ("allow", Word::Allow), ("deny", Word::Deny)];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Confirm,
    Allow,
    Deny,
}

/// Reads who may call what without being asked.
pub(super) fn read(top: &mut Fields<'_, '_, '_>) -> Permissions {
    let mut permissions = Permissions::default();
    let Some((at, members)) = top.table("agent") else { return permissions };
    let mut agent = Fields::of(top.report(), "`agent`".to_owned(), at, members);
    agent.within("tool_permissions", |fields| {
        match fields.choice("default", &WORDS) {
            Some(Word::Confirm) => permissions.mode = fields.said("default", Some(Mode::Ask)),
            Some(Word::Allow) => permissions.mode = fields.said("default", Some(Mode::Full)),
            Some(Word::Deny) => {
                let at = fields.said("default", Some(())).map(|it| it.at).unwrap_or_default();
                permissions.deny.push(rules::rule(EVERY, at));
            }
            None => {}
        }
        tools(fields, &mut permissions);
    });
    permissions
}

fn tools(fields: &mut Fields<'_, '_, '_>, into: &mut Permissions) {
    let Some((_, members)) = fields.table("tools") else { return };
    for member in members.iter().filter(|member| member.key.starts_with(PREFIX)) {
        let what = format!("tool {:?}", member.key);
        let Value::Table(inner) = &member.node.value else {
            let problem = format!("{what} is {}, not a table", member.node.value.kind());
            fields.report().error(member.node.at, problem, "give it a `default`");
            continue;
        };
        let mut inner = Fields::of(fields.report(), what, member.at, inner);
        let mut word = inner.choice("default", &WORDS);
        let hint = "patterns over what a tool is given are not understood here";
        if inner.node("always_allow").is_some() {
            inner.warn("always_allow", "has no effect", hint);
        }
        for key in ["always_confirm", "always_deny"] {
            if inner.node(key).is_some() {
                inner.warn(key, "is taken as a word to ask before every call", hint);
                // Calls it may be meant for cannot be told from others.
                word = word.filter(|word| *word == Word::Deny).or(Some(Word::Confirm));
            }
        }
        inner.finish();
        let rule = rules::rule(&member.key, fields.place(member.at));
        match word {
            Some(Word::Confirm) => into.ask.push(rule),
            Some(Word::Allow) => into.allow.push(rule),
            Some(Word::Deny) => into.deny.push(rule),
            None => {}
        }
    }
}

/// Where permissions are written, and as what. `limited` is what `confirm` means there: what is
/// allowed passes.
pub(super) fn write(
    permissions: &Permissions,
    losses: &mut Losses,
) -> Vec<(&'static [&'static str], Data)> {
    let Permissions { mode, allow, ask, deny, .. } = permissions;
    rules::beyond(permissions, losses);
    let every = deny.iter().any(|rule| rule.about == EVERY);
    let default = match mode.map(|mode| mode.value) {
        _ if every => Some("deny"),
        Some(Mode::Full) => Some("allow"),
        Some(Mode::Ask | Mode::Limited) => Some("confirm"),
        None => None,
    };
    let mut written: Vec<(&'static [&'static str], Data)> = Vec::new();
    written.extend(default.map(|word| (DEFAULT, Data::text(word))));
    let mut tools = Vec::new();
    for (effect, said, word) in [
        (Effect::Allow, allow, "allow"),
        (Effect::Ask, ask, "confirm"),
        (Effect::Deny, deny, "deny"),
    ] {
        for rule in rules::written(effect, said, losses).into_iter().filter(|it| it != EVERY) {
            match named(&rule) {
                Some(_) => {
                    let fields = vec![("default".to_owned(), Data::text(word))];
                    tools.push((rule, Data::Table(fields)));
                }
                None => losses.add("permissions", format!("Zed has no rule like {rule:?}")),
            }
        }
    }
    if !tools.is_empty() {
        written.push((TOOLS, Data::Table(tools)));
    }
    written
}

/// The server and the tool of a key.
fn named(key: &str) -> Option<(&str, &str)> {
    key.strip_prefix(PREFIX)?.split_once(':')
}

/// What a key says in our words.
pub(super) fn meaning(key: &str) -> Meaning {
    match named(key) {
        _ if key == EVERY => Meaning::Rule(rules::EVERY_TOOL.to_owned()),
        Some((server, tool)) => Meaning::Rule(format!("mcp:{server}/{tool}")),
        None => Meaning::OfTheHost,
    }
}

const DEFAULT: &[&str] = &["agent", "tool_permissions", "default"];
const TOOLS: &[&str] = &["agent", "tool_permissions", "tools"];
