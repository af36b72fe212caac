//! Claude Code's permissions: `permissions.{allow, ask, deny, defaultMode}` of its settings. Rules
//! about its own tools are kept, and are none of our business.

use toolgate_model::{Data, Effect};

use crate::form::Meaning;
use crate::frame::Fields;
use crate::frame::rules::{self, Unread};
use crate::losses::Losses;
use crate::{Mode, Permissions};

const MODE: &str = "defaultMode";
/// How the names of servers' tools begin: `mcp__<server>__<tool>`, or `mcp__<server>` for all.
const PREFIX: &str = "mcp__";

/// Reads who may call what without being asked. What else stands there is left alone.
pub(super) fn read(top: &mut Fields<'_, '_, '_>) -> Permissions {
    let Some((at, members)) = top.table("permissions") else { return Permissions::default() };
    let mut fields = Fields::of(top.report(), "`permissions`".to_owned(), at, members);
    let mode = fields.text(MODE).map(mode);
    Permissions {
        mode: fields.said(MODE, mode),
        allow: rules::texts(&mut fields, "allow", Unread::LeftOut),
        ask: rules::texts(&mut fields, "ask", Unread::Kept),
        deny: rules::texts(&mut fields, "deny", Unread::Kept),
        ..Permissions::default()
    }
}

/// Every mode that is not known here asks: it may be newer than we are.
fn mode(word: &str) -> Mode {
    match word {
        "bypassPermissions" => Mode::Full,
        "dontAsk" => Mode::Limited,
        _ => Mode::Ask,
    }
}

/// Where permissions are written, and as what.
pub(super) fn write(
    permissions: &Permissions,
    losses: &mut Losses,
) -> Vec<(&'static [&'static str], Data)> {
    let Permissions { mode, allow, ask, deny, .. } = permissions;
    rules::beyond(permissions, losses);
    let word = mode.map(|mode| match mode.value {
        Mode::Ask => "default",
        Mode::Limited => "dontAsk",
        Mode::Full => "bypassPermissions",
    });
    let mut written: Vec<(&'static [&'static str], Data)> = Vec::new();
    written.extend(word.map(|word| (&["permissions", MODE][..], Data::text(word))));
    let lists: [(&[&str], _, _); 3] = [
        (&["permissions", "allow"], Effect::Allow, allow),
        (&["permissions", "ask"], Effect::Ask, ask),
        (&["permissions", "deny"], Effect::Deny, deny),
    ];
    for (path, effect, said) in lists {
        let texts = rules::written(effect, said, losses);
        if !texts.is_empty() {
            written.push((path, Data::texts(texts)));
        }
    }
    written
}

/// What a rule says in our words.
pub(super) fn meaning(effect: Effect, about: &str) -> Meaning {
    let Some(name) = about.strip_prefix(PREFIX) else { return Meaning::OfTheHost };
    let (name, rest) = match name.split_once('(') {
        Some((name, _)) => (name, true),
        None => (name, false),
    };
    // Without what it says of arguments the rule is wider: that is safe where it restricts.
    if rest && effect == Effect::Allow {
        return Meaning::Nothing("what it says of arguments is not understood");
    }
    match name.split_once("__") {
        None | Some((_, "*")) => {
            let server = name.strip_suffix("__*").unwrap_or(name);
            Meaning::Rule(format!("mcp:{server}/*"))
        }
        Some(_) => Meaning::Rule(format!("{PREFIX}{name}")),
    }
}
