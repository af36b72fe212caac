//! Zed's permissions: `agent.tool_permissions`, with a word for every tool and words for single
//! ones. Its own tools and patterns over what a tool is given are left alone.

use toolgate_model::Data;

use crate::frame::Fields;
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
            Some(Word::Confirm) => permissions.mode = Some(Mode::Ask),
            Some(Word::Allow) => permissions.mode = Some(Mode::Full),
            Some(Word::Deny) => permissions.deny.push(EVERY.to_owned()),
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
        let word = inner.choice("default", &WORDS);
        for key in ["always_allow", "always_confirm", "always_deny"] {
            if inner.node(key).is_some() {
                inner.warn(key, "has no effect", "toolgate does not look at what a tool is given");
            }
        }
        inner.finish();
        match word {
            Some(Word::Confirm) => into.ask.push(member.key.clone()),
            Some(Word::Allow) => into.allow.push(member.key.clone()),
            Some(Word::Deny) => into.deny.push(member.key.clone()),
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
    let Permissions { mode, allow, ask, deny } = permissions;
    let every = deny.iter().any(|rule| rule == EVERY);
    let default = match mode {
        _ if every => Some("deny"),
        Some(Mode::Full) => Some("allow"),
        Some(Mode::Ask | Mode::Limited) => Some("confirm"),
        None => None,
    };
    let mut written: Vec<(&'static [&'static str], Data)> = Vec::new();
    written.extend(default.map(|word| (DEFAULT, Data::text(word))));
    let mut tools = Vec::new();
    for (rules, word) in [(allow, "allow"), (ask, "confirm"), (deny, "deny")] {
        for rule in rules.iter().filter(|rule| *rule != EVERY) {
            match rule.strip_prefix(PREFIX).is_some_and(|rest| rest.contains(':')) {
                true => {
                    let fields = vec![("default".to_owned(), Data::text(word))];
                    tools.push((rule.clone(), Data::Table(fields)));
                }
                false => losses.add("permissions", format!("Zed has no rule like {rule:?}")),
            }
        }
    }
    if !tools.is_empty() {
        written.push((TOOLS, Data::Table(tools)));
    }
    written
}

const DEFAULT: &[&str] = &["agent", "tool_permissions", "default"];
const TOOLS: &[&str] = &["agent", "tool_permissions", "tools"];
