//! Nyzhi's `config.toml`.
//!
//! Its texts have no variables. Headers are sent, as its documents promise.

use toolgate_model::{Data, Effect, HttpKind, ServerName, ServerSpec, TransportSpec, WrittenRule};

use super::rest;
use crate::form::{Entry, Form, Meaning, Place};
use crate::frame::rules::{self, Unread};
use crate::frame::server::{self, Keys};
use crate::frame::{Fields, Writer};
use crate::losses::Losses;
use crate::{Grammar, Mode, Permissions, Settings, Syntax};

pub(crate) struct Nyzhi;

const ID: &str = "nyzhi";
const KEYS: Keys = Keys { tags: &[], words: &[], cwd: None, ..Keys::COMMON };
/// How far the agent is trusted; the first word of a mode is the one that is written. Edits of
/// files, which `autoedit` lets pass, are no calls of servers.
const MODES: [(&str, Mode); 4] =
    [("off", Mode::Ask), ("limited", Mode::Limited), ("full", Mode::Full), ("autoedit", Mode::Ask)];
/// Every tool, among those that are denied.
const EVERY: &str = "*";
/// Fields of `[agent.trust]` that are about files, or about how approvals are remembered.
const OTHERS: [&str; 3] = ["allow_paths", "deny_paths", "remember_approvals"];

impl Form for Nyzhi {
    fn syntax(&self) -> Syntax {
        Syntax::Toml
    }

    fn place(&self) -> Place {
        Place::Map(&["mcp", "servers"])
    }

    fn grammar(&self) -> Grammar {
        Grammar::Literal
    }

    fn is_own_file(&self) -> bool {
        false
    }

    fn settings(&self, top: &mut Fields<'_, '_, '_>) -> Settings {
        let Some((at, members)) = top.table("agent") else { return Settings::default() };
        let mut agent = Fields::of(top.report(), "`agent`".to_owned(), at, members);
        let permissions = agent.within("trust", permissions).unwrap_or_default();
        Settings { permissions, ..Settings::default() }
    }

    fn read(&self, name: ServerName, entry: &mut Fields<'_, '_, '_>) -> Option<Entry> {
        let transport = server::transport(entry, &KEYS)?;
        Some(ServerSpec::new(name, transport).into())
    }

    fn write(&self, spec: &ServerSpec, writer: &mut Writer<'_>) {
        let mut rest = spec.clone();
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => rest::stdio(stdio, &KEYS, writer),
            TransportSpec::Http(http) => {
                rest::http(http, &KEYS, writer);
                // It speaks nothing but Streamable HTTP, so that need not be said.
                if http.kind == HttpKind::Streamable {
                    http.kind = HttpKind::Auto;
                }
            }
            TransportSpec::BuiltIn => return rest::undeclarable(writer, "it is built in"),
        }
        rest::finish(&rest, ID, writer);
    }

    fn write_settings(
        &self,
        settings: &Settings,
        losses: &mut Losses,
    ) -> Vec<(&'static [&'static str], Data)> {
        losses.settings(&Settings { permissions: Permissions::default(), ..settings.clone() });
        let permissions = &settings.permissions;
        let Permissions { mode, allow, ask, deny, .. } = permissions;
        rules::beyond(permissions, losses);
        let word = mode.and_then(|mode| MODES.iter().find(|(_, meant)| *meant == mode.value));
        let mut trust: Vec<_> =
            word.map(|(word, _)| ("mode".to_owned(), Data::text(*word))).into_iter().collect();
        for (key, effect, said) in [
            ("allow_tools", Effect::Allow, allow),
            ("always_ask", Effect::Ask, ask),
            ("deny_tools", Effect::Deny, deny),
        ] {
            trust.extend(rules::field(key, effect, said, losses));
        }
        match trust.is_empty() {
            true => Vec::new(),
            false => vec![(&["agent", "trust"], Data::Table(trust))],
        }
    }

    fn meaning(&self, effect: Effect, rule: &WrittenRule, said: &Permissions) -> Meaning {
        let limited = said.mode.is_some_and(|mode| mode.value == Mode::Limited);
        match rule.about.as_str() {
            EVERY => Meaning::Rule(rules::EVERY_TOOL.to_owned()),
            about if !about.starts_with("mcp__") => Meaning::OfTheHost,
            _ if effect == Effect::Allow && !limited => {
                Meaning::Nothing("Nyzhi allows what it lists in its mode \"limited\" alone")
            }
            about => Meaning::Rule(about.to_owned()),
        }
    }
}

/// Rules are kept as they are written: names of tools as Nyzhi exposes them.
fn permissions(trust: &mut Fields<'_, '_, '_>) -> Permissions {
    trust.ignored(&OTHERS);
    let mut allow = rules::texts(trust, "allow_tools", Unread::LeftOut);
    allow.extend(rules::texts(trust, "auto_approve", Unread::LeftOut));
    Permissions {
        mode: rules::mode(trust, &MODES),
        allow,
        ask: rules::texts(trust, "always_ask", Unread::Kept),
        deny: rules::texts(trust, "deny_tools", Unread::Kept),
        ..Permissions::default()
    }
}
