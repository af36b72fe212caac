//! Zed's `settings.json`.
//!
//! Its texts have no variables. A `timeout` is that of one request, so it limits a call whatever
//! happens meanwhile; `context_server_timeout` is that of every server without one of its own.

mod permissions;

use std::time::Duration;

use toolgate_model::{
    Data, Effect, HttpKind, ServerName, ServerSpec, StdioSpec, Timeouts, TransportSpec, WrittenRule,
};

use super::rest::{self, Covers};
use crate::form::{Entry, Form, Meaning, Place, Switch};
use crate::frame::fields::Unit;
use crate::frame::oauth::{self, Part};
use crate::frame::server::{self, Keys};
use crate::frame::tree::{Member, Node, Value};
use crate::frame::{Fields, Writer};
use crate::losses::Losses;
use crate::{Grammar, Permissions, Settings, Syntax};

pub(crate) struct Zed;

const ID: &str = "zed";
const KEYS: Keys = Keys { tags: &[], words: &[], cwd: None, ..Keys::COMMON };
/// The limit of every server without one of its own.
const USUAL_TIMEOUT: &str = "context_server_timeout";
/// Fields that mean something to Zed only; older versions say where a server comes from, and have
/// settings beside a command too.
const KEPT: [&str; 3] = ["remote", "source", "settings"];
const OAUTH: [(&str, Part); 2] =
    [("client_id", Part::ClientId), ("client_secret", Part::ClientSecret)];

impl Form for Zed {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn place(&self) -> Place {
        Place::Map(&["context_servers"])
    }

    fn grammar(&self) -> Grammar {
        Grammar::Literal
    }

    fn is_own_file(&self) -> bool {
        false
    }

    fn switch(&self) -> Option<Switch> {
        Some(Switch { field: "enabled", on: true, other: None })
    }

    fn settings(&self, top: &mut Fields<'_, '_, '_>) -> Settings {
        top.time(USUAL_TIMEOUT, Unit::Seconds);
        Settings { permissions: permissions::read(top), ..Settings::default() }
    }

    fn read(&self, name: ServerName, entry: &mut Fields<'_, '_, '_>) -> Option<Entry> {
        if is_extension(entry) {
            return None;
        }
        let mut transport = transport(entry);
        match &mut transport {
            Some(TransportSpec::Http(http)) => {
                entry.within("oauth", |inner| oauth::read(inner, &OAUTH, &mut http.auth.oauth));
            }
            Some(_) => server::unused(entry, "command", &["oauth"]),
            None => entry.ignored(&["oauth"]),
        }
        let enabled = entry.flag("enabled").unwrap_or(true);
        let timeouts =
            entry.time("timeout", Unit::Seconds).map(Timeouts::calls).unwrap_or_default();
        let extras = entry.kept(&KEPT).map(|kept| (ID.to_owned(), kept));
        let mut spec = ServerSpec::new(name, transport?);
        spec.extras.extend(extras);
        Some(ServerSpec { enabled, timeouts, ..spec }.into())
    }

    fn complete(
        &self,
        spec: &mut ServerSpec,
        entry: &[Member],
        top: &mut Fields<'_, '_, '_>,
    ) -> Option<(String, String)> {
        let has_own = entry.iter().any(|member| member.key == "timeout");
        match top.time(USUAL_TIMEOUT, Unit::Seconds) {
            Some(limit) if !has_own => spec.timeouts = Timeouts::calls(limit),
            _ => {}
        }
        None
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
                let oauth = oauth::write(writer, &OAUTH, &mut http.auth.oauth);
                if !oauth.is_empty() {
                    writer.data("oauth", Data::Table(oauth));
                }
            }
            TransportSpec::BuiltIn => return rest::undeclarable(writer, "it is built in"),
        }
        if let Some(limit) = rest::timeout(&mut rest.timeouts, Covers::Calls, Duration::ZERO) {
            writer.seconds("timeout", limit);
        }
        if !std::mem::replace(&mut rest.enabled, true) {
            writer.flag("enabled", false);
        }
        rest::finish(&rest, ID, writer);
    }

    fn implied(&self, document: &[Member], entry: &[Member], fields: &mut Vec<(String, Data)>) {
        let usual = document.iter().find(|member| member.key == USUAL_TIMEOUT);
        let Some(usual) = usual.map(|member| member.node.data()) else { return };
        if !entry.iter().any(|member| member.key == "timeout") {
            fields.retain(|(key, said)| key != "timeout" || *said != usual);
        }
    }

    fn write_settings(
        &self,
        settings: &Settings,
        losses: &mut Losses,
    ) -> Vec<(&'static [&'static str], Data)> {
        let permissions = Default::default();
        losses.settings(&Settings { permissions, ..settings.clone() });
        permissions::write(&settings.permissions, losses)
    }

    fn meaning(&self, _effect: Effect, rule: &WrittenRule, _said: &Permissions) -> Meaning {
        permissions::meaning(&rule.about)
    }
}

/// An entry that only configures a server which an extension brings along.
fn is_extension(entry: &mut Fields<'_, '_, '_>) -> bool {
    let mut has = |key: &'static str| entry.node(key).is_some();
    let starts = has("command") || has("url");
    let configures = [has("settings"), has("enabled")].contains(&true);
    if starts || !configures {
        return false;
    }
    entry.ignored(&KEPT);
    let key = if entry.node("settings").is_some() { "settings" } else { "enabled" };
    let problem = "configures a server that an extension of Zed brings along";
    entry.warn(key, problem, "only Zed can start it");
    true
}

/// Reads what to start, or where to connect. Older versions have the process in a table.
fn transport(entry: &mut Fields<'_, '_, '_>) -> Option<TransportSpec> {
    match entry.node("command") {
        Some(Node { value: Value::Table(_), .. }) => {
            entry.ignored(&["args", "env", "url", "headers"]);
            if let Some(node) = entry.node("url") {
                let hint = "keep `command` to start a process, or `url` to connect to an endpoint";
                entry.fault(node.at, "has both `command` and `url`", hint);
            }
            entry.within("command", nested).map(TransportSpec::Stdio)
        }
        _ => server::transport(entry, &KEYS),
    }
}

fn nested(inner: &mut Fields<'_, '_, '_>) -> StdioSpec {
    let path = inner.template("path").unwrap_or_default();
    let mut stdio = server::stdio(inner, path, &KEYS);
    stdio.args = inner.templates("args").unwrap_or_default();
    server::check_stdio(inner, &stdio, "path");
    stdio
}
