//! `.mcp.json`: a `mcpServers` map, as Claude Code defined it and many others read it.
//!
//! Two differences to Claude Code are meant: `url` without `type` is taken as HTTP, and `cwd` is
//! honoured. `~/.claude.json` has the same entries ([`super::claude_code`]).

use std::collections::BTreeMap;
use std::time::Duration;

use toolgate_model::{
    Data, HttpKind, HttpSpec, OAuth, Secret, ServerName, ServerSpec, Timeouts, TransportSpec,
};

use super::rest::{self, Covers};
use crate::form::{Entry, Form, Group, Place, Servers, Switch};
use crate::frame::fields::Unit;
use crate::frame::server::{self, Keys};
use crate::frame::tree::{Member, Value};
use crate::frame::{Fields, Writer};
use crate::{Grammar, Syntax, template};

pub(crate) struct McpJson;

/// The name of this family in `extra`.
const ID: &str = "mcp-json";
/// Fields that mean something to Claude Code only.
const KEPT: [&str; 1] = ["alwaysLoad"];
/// A name Claude Code keeps for itself.
const RESERVED: &str = "workspace";
/// Claude Code ignores a shorter `timeout`.
const LEAST_TIMEOUT: Duration = Duration::from_secs(1);
/// The fields of an entry by which a map without a key around it is known.
const TELLING: [&str; 2] = ["command", "url"];

impl Form for McpJson {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn place(&self) -> Place {
        Place::Map(&["mcpServers"])
    }

    fn place_in(&self, document: &[Member], name: &ServerName) -> Place {
        let map = |key: &str| match &document.iter().find(|member| member.key == key)?.node.value {
            Value::Table(servers) => Some(servers),
            _ => None,
        };
        let has = |servers: &Vec<Member>| servers.iter().any(|it| it.key == name.as_str());
        match (map("mcpServers"), map("mcp_servers")) {
            (Some(servers), Some(others)) if !has(servers) && has(others) => {
                Place::Map(&["mcp_servers"])
            }
            (None, Some(_)) => Place::Map(&["mcp_servers"]),
            _ if bare(document).is_some() => Place::Map(&[]),
            _ => self.place(),
        }
    }

    fn grammar(&self) -> Grammar {
        Grammar::Braces
    }

    fn is_own_file(&self) -> bool {
        true
    }

    fn switch(&self) -> Option<Switch> {
        Some(Switch { field: "disabled", on: false, other: Some("enabled") })
    }

    /// Nyzhi knows the map by another name too, and `.agents/mcp/servers.json` is nothing but the
    /// map.
    fn groups<'t>(&self, top: &mut Fields<'t, '_, '_>) -> Vec<Group<'t>> {
        if let Some(servers) = bare(top.members()) {
            top.all_known();
            return vec![Group { servers: Servers::Map(servers), only_in: None }];
        }
        let places = [self.place(), Place::Map(&["mcp_servers"])];
        let found = places.into_iter().filter_map(|place| top.servers(place));
        found.map(|servers| Group { servers, only_in: None }).collect()
    }

    fn read(&self, name: ServerName, entry: &mut Fields<'_, '_, '_>) -> Option<Entry> {
        read(name, entry)
    }

    fn write(&self, spec: &ServerSpec, writer: &mut Writer<'_>) {
        write(spec, writer);
    }
}

/// The servers of a document that is nothing but a map of them: every member is a table, and one
/// at least says what to start or where to connect.
pub(crate) fn bare(document: &[Member]) -> Option<&[Member]> {
    let servers = match document.split_first() {
        Some((first, rest)) if first.key == "$schema" => rest,
        _ => document,
    };
    let tells = |members: &[Member]| members.iter().any(|it| TELLING.contains(&it.key.as_str()));
    let mut telling = false;
    for member in servers {
        match &member.node.value {
            Value::Table(members) => telling |= tells(members),
            _ => return None,
        }
    }
    let wrapped = ["mcpServers", "mcp_servers"];
    let is_wrapped = servers.iter().any(|member| wrapped.contains(&member.key.as_str()));
    (telling && !is_wrapped).then_some(servers)
}

/// Reads an entry of this family.
pub(super) fn read(name: ServerName, entry: &mut Fields<'_, '_, '_>) -> Option<Entry> {
    if name.as_str() == RESERVED {
        let hint = "rename it if Claude Code is to start it too";
        entry.warn(RESERVED, "is a name that Claude Code keeps for itself", hint);
    }
    let mut transport = transport(entry);
    let disabled = entry.flag("disabled").unwrap_or(false);
    let enabled = entry.flag("enabled").unwrap_or(true) && !disabled;
    let timeouts = timeouts(entry);
    let description = entry.text("description").map(str::to_owned);
    identity(entry, transport.as_mut());
    nested(entry, transport.as_ref());
    let extras = entry.kept(&KEPT).map(|kept| (ID.to_owned(), kept));
    let mut spec = ServerSpec::new(name, transport?);
    spec.extras.extend(extras);
    Some(ServerSpec { enabled, timeouts, description, ..spec }.into())
}

/// Web sockets have a word in this dialect; it is better to say that we do not speak them than
/// that the word is unknown.
fn transport(entry: &mut Fields<'_, '_, '_>) -> Option<TransportSpec> {
    let keys = Keys::COMMON;
    for tag in keys.tags {
        match entry.node(tag) {
            Some(node) if node.value == Value::Text("ws".to_owned()) => {
                let hint = "use its \"http\" or \"sse\" endpoint, if it has one";
                entry.wrong(node.at, "is of type \"ws\": web sockets are not spoken", hint);
                entry.ignored(&[keys.command, keys.args, keys.env, "cwd", keys.url, keys.headers]);
                return None;
            }
            _ => {}
        }
    }
    server::transport(entry, &keys)
}

/// Warns of a default that names a variable in turn: a text is expanded once, so the name itself
/// would be sent. Claude Code expands headers twice, and nothing else.
fn nested(entry: &mut Fields<'_, '_, '_>, transport: Option<&TransportSpec>) {
    let is_nested = |text: &String| {
        let variables = template::variables(text);
        variables.iter().any(|it| it.default.as_ref().is_some_and(|text| text.contains("${")))
    };
    let any = |values: &BTreeMap<String, Secret<String>>| {
        values.values().map(Secret::expose).any(is_nested)
    };
    let found = match transport {
        Some(TransportSpec::Stdio(stdio)) => vec![
            ("command", is_nested(&stdio.command)),
            ("args", stdio.args.iter().any(is_nested)),
            ("env", any(&stdio.env)),
        ],
        Some(TransportSpec::Http(http)) => {
            vec![("url", is_nested(&http.url)), ("headers", any(&http.headers))]
        }
        _ => Vec::new(),
    };
    for (key, _) in found.iter().filter(|(_, is_nested)| *is_nested) {
        let problem = "has a variable inside the default of another, which is not expanded";
        entry.warn(key, problem, "set one variable, or write the default as it is");
    }
}

/// Reads how an endpoint is told who we are. None of it is expanded by Claude Code.
fn identity(entry: &mut Fields<'_, '_, '_>, transport: Option<&mut TransportSpec>) {
    let helper = entry.text("headersHelper").map(|text| Secret::new(text.to_owned()));
    let oauth = entry.within("oauth", oauth);
    match transport {
        Some(TransportSpec::Http(http)) => {
            http.headers_helper = helper;
            http.auth.oauth = oauth.unwrap_or_default();
        }
        Some(_) => server::unused(entry, "command", &["headersHelper", "oauth"]),
        None => {}
    }
}

fn oauth(fields: &mut Fields<'_, '_, '_>) -> OAuth {
    let scopes = fields.text("scopes").unwrap_or_default();
    OAuth {
        client_id: fields.text("clientId").map(template::literal),
        callback_port: port(fields, "callbackPort"),
        metadata_url: metadata_url(fields, "authServerMetadataUrl"),
        scopes: scopes.split_whitespace().map(template::literal).collect(),
        ..OAuth::default()
    }
}

/// A port number.
pub(super) fn port(fields: &mut Fields<'_, '_, '_>, key: &'static str) -> Option<u16> {
    let number = fields.integer(key)?;
    match u16::try_from(number) {
        Ok(port) if port > 0 => Some(port),
        _ => {
            let at = fields.node(key)?.at;
            fields.wrong(at, &format!("cannot have port {number}"), "use one up to 65535");
            None
        }
    }
}

/// Whoever can change what is read there decides where the user logs in: never in the clear.
fn metadata_url(fields: &mut Fields<'_, '_, '_>, key: &'static str) -> Option<String> {
    let url = fields.text(key)?;
    if !url.starts_with("https://") {
        let at = fields.node(key)?.at;
        fields.fault(at, &format!("needs https for `{key}`"), "begin it with https://");
    }
    Some(template::literal(url))
}

/// `timeout` is a wall clock per call, in milliseconds.
fn timeouts(fields: &mut Fields<'_, '_, '_>) -> Timeouts {
    match fields.time("timeout", Unit::Millis) {
        Some(limit) if limit < LEAST_TIMEOUT => {
            fields.warn("timeout", "is ignored", "give 1000 or more milliseconds");
            Timeouts::default()
        }
        Some(limit) => Timeouts::calls(limit),
        None => Timeouts::default(),
    }
}

/// Writes an entry of this family.
pub(super) fn write(spec: &ServerSpec, writer: &mut Writer<'_>) {
    let mut rest = spec.clone();
    match &mut rest.transport {
        TransportSpec::Stdio(stdio) => rest::stdio(stdio, &Keys::COMMON, writer),
        TransportSpec::Http(http) => write_http(http, writer),
        TransportSpec::BuiltIn => return rest::undeclarable(writer, "it is built in"),
    }
    if let Some(time) = rest::timeout(&mut rest.timeouts, Covers::Calls, LEAST_TIMEOUT) {
        writer.millis("timeout", time);
    }
    writer.plain("description", rest.description.take().as_deref());
    if !std::mem::replace(&mut rest.enabled, true) {
        writer.flag("disabled", true);
    }
    rest::finish(&rest, ID, writer);
}

fn write_http(http: &mut HttpSpec, writer: &mut Writer<'_>) {
    let word = match std::mem::take(&mut http.kind) {
        HttpKind::Auto => "http",
        HttpKind::Streamable => "streamable-http",
        HttpKind::Sse => "sse",
    };
    writer.plain("type", Some(word));
    rest::http(http, &Keys::COMMON, writer);
    let helper = http.headers_helper.take();
    writer.plain("headersHelper", helper.as_ref().map(|helper| helper.expose().as_str()));
    write_oauth(&mut http.auth.oauth, writer);
}

fn write_oauth(oauth: &mut OAuth, writer: &mut Writer<'_>) {
    writer.within("oauth", |inner| {
        literal(inner, "clientId", oauth.client_id.take());
        if let Some(port) = oauth.callback_port.take() {
            inner.data("callbackPort", Data::Integer(port.into()));
        }
        literal(inner, "authServerMetadataUrl", oauth.metadata_url.take());
        let scopes = std::mem::take(&mut oauth.scopes).join(" ");
        literal(inner, "scopes", Some(scopes).filter(|scopes| !scopes.is_empty()));
    });
}

fn literal(writer: &mut Writer<'_>, key: &str, text: Option<String>) {
    let text = text.and_then(|text| rest::literally(writer, &format!("oauth.{key}"), &text));
    writer.plain(key, text.as_deref());
}
