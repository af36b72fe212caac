//! opencode's `opencode.json`, and what it shares with its second version.
//!
//! Where a file lies does not tell the two apart, so both readers take both shapes, and each writes
//! its own. A single `timeout` is that of the start and of a call; progress begins it anew, so it
//! says nothing about the longest call.

use std::time::Duration;

use toolgate_model::{
    AuthProvider, Data, HttpKind, HttpSpec, ServerName, ServerSpec, StdioSpec, Timeouts,
    TransportSpec,
};

use super::rest;
use crate::form::{Entry, Form, Group, Place, Servers, Switch};
use crate::frame::fields::Unit;
use crate::frame::oauth::{self, Part};
use crate::frame::server::{self, Keys};
use crate::frame::tree::{Member, Node, Value};
use crate::frame::{Fields, Writer};
use crate::{Grammar, Syntax};

pub(crate) struct OpenCode;

const KEYS: Keys = Keys { env: "environment", ..Keys::COMMON };
/// Where servers stand in the first version, and in the second.
const FIRST: Place = Place::Map(&["mcp"]);
pub(super) const SECOND: Place = Place::Map(&["mcp", "servers"]);
/// Fields by which an entry is known from a table of entries.
const TELLING: [&str; 5] = ["type", "command", "url", "enabled", "disabled"];
/// What a login is called in the first version.
const OAUTH: [(&str, Part); 5] = [
    ("clientId", Part::ClientId),
    ("clientSecret", Part::ClientSecret),
    ("scope", Part::ScopeText),
    ("callbackPort", Part::CallbackPort),
    ("redirectUri", Part::RedirectUri),
];
/// And in the second.
pub(super) const OAUTH_V2: [(&str, Part); 5] = [
    ("client_id", Part::ClientId),
    ("client_secret", Part::ClientSecret),
    ("scope", Part::ScopeText),
    ("callback_port", Part::CallbackPort),
    ("redirect_uri", Part::RedirectUri),
];

impl Form for OpenCode {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn place(&self) -> Place {
        FIRST
    }

    fn place_in(&self, document: &[Member], name: &ServerName) -> Place {
        place_in(document, name).unwrap_or(FIRST)
    }

    fn grammar(&self) -> Grammar {
        Grammar::Curly
    }

    fn is_own_file(&self) -> bool {
        false
    }

    fn switch(&self) -> Option<Switch> {
        Some(Switch { field: "enabled", on: true, other: Some("disabled") })
    }

    fn groups<'t>(&self, top: &mut Fields<'t, '_, '_>) -> Vec<Group<'t>> {
        groups(top)
    }

    fn read(&self, name: ServerName, entry: &mut Fields<'_, '_, '_>) -> Option<Entry> {
        read(name, entry)
    }

    fn complete(
        &self,
        spec: &mut ServerSpec,
        _entry: &[Member],
        top: &mut Fields<'_, '_, '_>,
    ) -> Option<(String, String)> {
        hidden_tools(spec, top)
    }

    fn write(&self, spec: &ServerSpec, writer: &mut Writer<'_>) {
        let mut rest = spec.clone();
        if !transport(&mut rest.transport, &OAUTH, writer) {
            return;
        }
        if !std::mem::replace(&mut rest.enabled, true) {
            writer.flag("enabled", false);
        }
        let Timeouts { start, call, .. } = rest.timeouts;
        if let Some(limit) = call
            && start == call
            && rest.timeouts == of_silence(start, call)
        {
            writer.millis("timeout", limit);
            rest.timeouts = Timeouts::default();
        }
        rest::finish(&rest, "opencode", writer);
    }
}

/// Limits of the start and of a call without any sign of life, which may be longer than a call
/// takes by default.
pub(super) fn of_silence(start: Option<Duration>, call: Option<Duration>) -> Timeouts {
    let max = call.filter(|call| *call > Timeouts::default().max());
    Timeouts { start, call, max }
}

/// Where a server of a document stands or belongs, whichever version the document is of; `None` if
/// it has no servers yet.
pub(super) fn place_in(document: &[Member], name: &ServerName) -> Option<Place> {
    let mcp = document.iter().find(|member| member.key == "mcp")?;
    let Value::Table(members) = &mcp.node.value else { return None };
    let is_meant = |member: &Member| member.key == name.as_str();
    match second(members) {
        Some(servers) if servers.iter().any(is_meant) => Some(SECOND),
        Some(_) if members.iter().any(|it| is_meant(it) && it.key != "servers") => Some(FIRST),
        Some(_) => Some(SECOND),
        None => (!members.is_empty()).then_some(FIRST),
    }
}

/// Whether `mcp` is written as the second version has it, be it without any server yet.
pub(crate) fn is_second(mcp: &[Member]) -> bool {
    second(mcp).is_some()
}

/// The servers of the second version, if there are any.
fn second(mcp: &[Member]) -> Option<&[Member]> {
    mcp.iter().find_map(|member| match &member.node.value {
        Value::Table(inner) if member.key == "servers" && !is_entry(inner) => Some(&inner[..]),
        _ => None,
    })
}

/// The entries of a document, wherever its version has them.
pub(super) fn groups<'t>(top: &mut Fields<'t, '_, '_>) -> Vec<Group<'t>> {
    let Some((_, members)) = top.table("mcp") else { return Vec::new() };
    let group = |members| Group { servers: Servers::Map(members), only_in: None };
    match second(members) {
        None => vec![group(members)],
        // Entries of the first version may have been left beside those of the second.
        Some(servers) => {
            let left = members.chunks(1).filter(|member| match &member[0].node.value {
                Value::Table(inner) => is_entry(inner),
                _ => false,
            });
            std::iter::once(servers).chain(left).map(group).collect()
        }
    }
}

/// Whether a table is an entry: one of its telling fields holds no table.
fn is_entry(members: &[Member]) -> bool {
    let telling = |member: &&Member| TELLING.contains(&member.key.as_str());
    members.iter().filter(telling).any(|member| !matches!(member.node.value, Value::Table(_)))
}

/// Reads an entry of either version.
pub(super) fn read(name: ServerName, entry: &mut Fields<'_, '_, '_>) -> Option<Entry> {
    let disabled = entry.flag("disabled");
    let enabled = entry.flag("enabled");
    let timeouts = timeouts(entry);
    let is_remote = entry.choice("type", &[("local", false), ("remote", true)]);
    let found = ["command", "url"].map(|key| entry.node(key));
    match (found, enabled.or(disabled.map(|it| !it))) {
        ([None, None], Some(enabled)) => {
            return Some(Entry::Amendment { enabled: Some(enabled), env_inherit: Vec::new() });
        }
        _ if is_remote.is_none() && entry.node("type").is_none() => {
            entry.warn("type", "is missing", "opencode needs \"local\" or \"remote\" there");
        }
        _ => {}
    }
    let transport = match found {
        [Some(_), None] => {
            check_type(entry, is_remote, true, "command");
            server::unused(entry, "command", &["headers", "oauth"]);
            local(entry)
        }
        [None, Some(_)] => {
            check_type(entry, is_remote, false, "url");
            server::unused(entry, "url", &["environment", "cwd"]);
            remote(entry)
        }
        [Some(_), Some(_)] => {
            let hint = "keep `command` to start a process, or `url` to connect to an endpoint";
            entry.fail("has both `command` and `url`", hint);
            None
        }
        [None, None] => {
            let hint = "add `command` to start a process, or `url` to connect to an endpoint";
            entry.fail("has neither `command` nor `url`", hint);
            None
        }
    };
    entry.ignored(&["environment", "cwd", "headers", "oauth"]);
    let enabled = enabled.unwrap_or(true) && !disabled.unwrap_or(false);
    Some(ServerSpec { enabled, timeouts, ..ServerSpec::new(name, transport?) }.into())
}

/// Complains of a type that says the opposite of the field beside it.
fn check_type(entry: &mut Fields<'_, '_, '_>, is_remote: Option<bool>, wrong: bool, has: &str) {
    if is_remote == Some(wrong) {
        let word = if wrong { "remote" } else { "local" };
        let at = entry.node("type").map_or(0, |node| node.at);
        let hint = format!("change the type, or replace `{has}`");
        entry.wrong(at, &format!("is of type {word:?} but has `{has}`"), &hint);
    }
}

fn local(entry: &mut Fields<'_, '_, '_>) -> Option<TransportSpec> {
    let mut words = entry.templates("command")?.into_iter();
    let mut stdio = server::stdio(entry, words.next().unwrap_or_default(), &KEYS);
    stdio.args = words.collect();
    server::check_stdio(entry, &stdio, "command");
    Some(TransportSpec::Stdio(stdio))
}

fn remote(entry: &mut Fields<'_, '_, '_>) -> Option<TransportSpec> {
    let url = entry.template("url")?;
    let headers = entry.secrets("headers");
    let mut http = HttpSpec { url, headers, ..HttpSpec::default() };
    server::check_http(entry, &http, "url");
    match entry.node("oauth") {
        Some(Node { value: Value::Flag(false), .. }) => http.auth.provider = AuthProvider::Off,
        _ => {
            entry.within("oauth", |inner| {
                oauth::read(inner, &OAUTH, &mut http.auth.oauth);
                oauth::read(inner, &OAUTH_V2, &mut http.auth.oauth);
            });
        }
    }
    Some(TransportSpec::Http(http))
}

fn timeouts(entry: &mut Fields<'_, '_, '_>) -> Timeouts {
    let (start, call) = match entry.node("timeout") {
        Some(Node { value: Value::Table(_), .. }) => {
            let read = |inner: &mut Fields<'_, '_, '_>| {
                ["startup", "request"].map(|key| inner.time(key, Unit::Millis))
            };
            let [start, call] = entry.within("timeout", read).unwrap_or_default();
            (start, call)
        }
        _ => {
            let limit = entry.time("timeout", Unit::Millis);
            (limit, limit)
        }
    };
    of_silence(start, call)
}

/// `tools` may hide a server's tools from all agents and show them to some again, so what it says
/// is not taken over; whoever relies on it is told.
pub(super) fn hidden_tools(
    spec: &ServerSpec,
    top: &mut Fields<'_, '_, '_>,
) -> Option<(String, String)> {
    let (_, members) = top.table("tools")?;
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let prefix: String = spec.name.as_str().chars().map(plain).chain(['_']).collect();
    let hides = |member: &&Member| {
        member.key.starts_with(&prefix) && member.node.value == Value::Flag(false)
    };
    let glob = &members.iter().find(hides)?.key;
    let problem = format!("has tools that `tools` hides with {glob:?}: toolgate shows them");
    Some((problem, "hide them with `exclude` in toolgate's own file".to_owned()))
}

/// Writes what to start, or where to connect; `false` if it is neither.
pub(super) fn transport(
    transport: &mut TransportSpec,
    names: &oauth::Names,
    writer: &mut Writer<'_>,
) -> bool {
    match transport {
        TransportSpec::Stdio(stdio) => write_local(stdio, writer),
        TransportSpec::Http(http) => write_remote(http, names, writer),
        TransportSpec::BuiltIn => {
            rest::undeclarable(writer, "it is built in");
            return false;
        }
    }
    true
}

fn write_local(stdio: &StdioSpec, writer: &mut Writer<'_>) {
    writer.plain("type", Some("local"));
    // Without the program, its first argument would be taken for it.
    if let Some(program) = writer.translated("command", &stdio.command) {
        let args = stdio.args.iter().filter_map(|arg| writer.translated("args", arg));
        let words: Vec<_> = std::iter::once(program).chain(args).collect();
        writer.data("command", Data::texts(words));
    }
    writer.secrets(KEYS.env, "env", &stdio.env);
    writer.cwd(KEYS.cwd, stdio.cwd.as_deref());
}

fn write_remote(http: &mut HttpSpec, names: &oauth::Names, writer: &mut Writer<'_>) {
    writer.plain("type", Some("remote"));
    rest::http(http, &KEYS, writer);
    // What it tries first need not be said.
    if http.kind == HttpKind::Streamable {
        http.kind = HttpKind::Auto;
    }
    if http.auth.provider == AuthProvider::Off {
        http.auth.provider = AuthProvider::Discovered;
        return writer.flag("oauth", false);
    }
    let oauth = oauth::write(writer, names, &mut http.auth.oauth);
    if !oauth.is_empty() {
        writer.data("oauth", Data::Table(oauth));
    }
}
