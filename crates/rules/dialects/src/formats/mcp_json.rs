//! `.mcp.json`: a map `mcpServers`, as Claude Code defined it and many hosts read it.
//!
//! Two differences to Claude Code are intended: `url` without `type` means HTTP, and `cwd` is used.
//! `~/.claude.json` has the same entries ([`super::claude_code`]).

use std::collections::BTreeMap;
use std::time::Duration;

use toolgate_model::{
    ConfigValue, HttpSpec, HttpTransportKind, OAuthSpec, Secret, ServerName, ServerSpec,
    ServerTimeouts, TransportSpec,
};

use super::write_helpers::{self, TimeoutScope};
use crate::common::fields::TimeUnit;
use crate::common::server::{self, EntryKeys};
use crate::common::tree::{TreeMember, TreeValue};
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{
    DialectFormat, EnabledField, ParsedEntry, ServerEntries, ServerGroup, ServersLocation,
};
use crate::{Syntax, VariableSyntax, template};

/// The dialect of `.mcp.json`.
pub(crate) struct McpJson;

/// The name of these dialects in `extra`.
const ID: &str = "mcp-json";
/// Fields that only Claude Code uses.
const KEPT: [&str; 1] = ["alwaysLoad"];
/// A name that Claude Code reserves.
const RESERVED: &str = "workspace";
/// The minimum `timeout`; Claude Code ignores shorter ones.
const LEAST_TIMEOUT: Duration = Duration::from_secs(1);
/// Entry fields that identify a map of servers without a surrounding key.
const TELLING: [&str; 2] = ["command", "url"];

impl DialectFormat for McpJson {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn servers_location(&self) -> ServersLocation {
        ServersLocation::Map(&["mcpServers"])
    }

    fn locate_server(&self, document: &[TreeMember], name: &ServerName) -> ServersLocation {
        let map = |key: &str| match &document.iter().find(|member| member.key == key)?.node.value {
            TreeValue::Table(servers) => Some(servers),
            _ => None,
        };
        let has = |servers: &Vec<TreeMember>| servers.iter().any(|it| it.key == name.as_str());
        match (map("mcpServers"), map("mcp_servers")) {
            (Some(servers), Some(others)) if !has(servers) && has(others) => {
                ServersLocation::Map(&["mcp_servers"])
            }
            (None, Some(_)) => ServersLocation::Map(&["mcp_servers"]),
            _ if bare_servers(document).is_some() => ServersLocation::Map(&[]),
            _ => self.servers_location(),
        }
    }

    fn variable_syntax(&self) -> VariableSyntax {
        VariableSyntax::Braces
    }

    fn is_servers_only(&self) -> bool {
        true
    }

    fn enabled_field(&self) -> Option<EnabledField> {
        Some(EnabledField {
            field: "disabled",
            value_when_enabled: false,
            opposite_field: Some("enabled"),
        })
    }

    /// Returns the servers. Nyzhi also accepts another name for the map, and
    /// `.agents/mcp/servers.json` is only the map.
    fn server_groups<'t>(&self, top: &mut TableFields<'t, '_, '_>) -> Vec<ServerGroup<'t>> {
        if let Some(servers) = bare_servers(top.members()) {
            top.allow_unknown();
            return vec![ServerGroup { servers: ServerEntries::Map(servers), only_in: None }];
        }
        let places = [self.servers_location(), ServersLocation::Map(&["mcp_servers"])];
        let found = places.into_iter().filter_map(|place| top.servers(place));
        found.map(|servers| ServerGroup { servers, only_in: None }).collect()
    }

    fn read(&self, name: ServerName, entry: &mut TableFields<'_, '_, '_>) -> Option<ParsedEntry> {
        read(name, entry)
    }

    fn write(&self, spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
        write(spec, writer);
    }
}

/// Returns the servers of a document that is only a map of them: every member is a table, and at
/// least one has a command or a URL.
pub(crate) fn bare_servers(document: &[TreeMember]) -> Option<&[TreeMember]> {
    let servers = match document.split_first() {
        Some((first, rest)) if first.key == "$schema" => rest,
        _ => document,
    };
    let tells =
        |members: &[TreeMember]| members.iter().any(|it| TELLING.contains(&it.key.as_str()));
    let mut telling = false;
    for member in servers {
        match &member.node.value {
            TreeValue::Table(members) => telling |= tells(members),
            _ => return None,
        }
    }
    let wrapped = ["mcpServers", "mcp_servers"];
    let is_wrapped = servers.iter().any(|member| wrapped.contains(&member.key.as_str()));
    (telling && !is_wrapped).then_some(servers)
}

/// Reads an entry of this family of dialects.
pub(super) fn read(name: ServerName, entry: &mut TableFields<'_, '_, '_>) -> Option<ParsedEntry> {
    if name.as_str() == RESERVED {
        let hint = "rename it if Claude Code should start it too";
        entry.warn(RESERVED, "is a name that Claude Code reserves", hint);
    }
    let mut transport = transport(entry);
    let disabled = entry.flag("disabled").unwrap_or(false);
    let enabled = entry.flag("enabled").unwrap_or(true) && !disabled;
    let timeouts = timeouts(entry);
    let description = entry.text("description").map(str::to_owned);
    read_auth(entry, transport.as_mut());
    warn_nested_defaults(entry, transport.as_ref());
    let extras = entry.read_extras(&KEPT).map(|kept| (ID.to_owned(), kept));
    let mut spec = ServerSpec::new(name, transport?);
    spec.extras.extend(extras);
    Some(ServerSpec { enabled, timeouts, description, ..spec }.into())
}

/// Reads the transport. This dialect has a type for WebSocket, so the error says that it is not
/// supported instead of unknown.
fn transport(entry: &mut TableFields<'_, '_, '_>) -> Option<TransportSpec> {
    let keys = EntryKeys::COMMON;
    for tag in keys.transport_keys {
        match entry.node(tag) {
            Some(node) if node.value == TreeValue::Text("ws".to_owned()) => {
                let hint = "use its \"http\" or \"sse\" endpoint, if it has one";
                entry.error_with_value(
                    node.at,
                    "is of type \"ws\": WebSocket is not supported",
                    hint,
                );
                entry.mark_known(&[
                    keys.command,
                    keys.args,
                    keys.env,
                    "cwd",
                    keys.url,
                    keys.headers,
                ]);
                return None;
            }
            _ => {}
        }
    }
    server::read_transport(entry, &keys)
}

/// Warns about a default that contains a variable. Values are expanded once, so the variable name
/// itself would be sent. Claude Code expands headers twice, and nothing else.
fn warn_nested_defaults(entry: &mut TableFields<'_, '_, '_>, transport: Option<&TransportSpec>) {
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
        entry.warn(key, problem, "use one variable, or a default without variables");
    }
}

/// Reads how Toolgate authenticates to an endpoint. Claude Code expands none of these fields.
fn read_auth(entry: &mut TableFields<'_, '_, '_>, transport: Option<&mut TransportSpec>) {
    let helper = entry.text("headersHelper").map(|text| Secret::new(text.to_owned()));
    let oauth = entry.with_table("oauth", oauth);
    match transport {
        Some(TransportSpec::Http(http)) => {
            http.headers_helper = helper;
            http.auth.oauth = oauth.unwrap_or_default();
        }
        Some(_) => server::warn_unused(entry, "command", &["headersHelper", "oauth"]),
        None => {}
    }
}

fn oauth(fields: &mut TableFields<'_, '_, '_>) -> OAuthSpec {
    let scopes = fields.text("scopes").unwrap_or_default();
    OAuthSpec {
        client_id: fields.text("clientId").map(template::literal),
        callback_port: port(fields, "callbackPort"),
        metadata_url: metadata_url(fields, "authServerMetadataUrl"),
        scopes: scopes.split_whitespace().map(template::literal).collect(),
        ..OAuthSpec::default()
    }
}

/// Returns a port number.
pub(super) fn port(fields: &mut TableFields<'_, '_, '_>, key: &'static str) -> Option<u16> {
    let number = fields.integer(key)?;
    match u16::try_from(number) {
        Ok(port) if port > 0 => Some(port),
        _ => {
            let at = fields.node(key)?.at;
            fields.error_with_value(
                at,
                &format!("has an invalid port: {number}"),
                "use a port up to 65535",
            );
            None
        }
    }
}

/// Returns the metadata URL, which must use HTTPS: its content determines where the user logs in.
fn metadata_url(fields: &mut TableFields<'_, '_, '_>, key: &'static str) -> Option<String> {
    let url = fields.text(key)?;
    if !url.starts_with("https://") {
        let at = fields.node(key)?.at;
        fields.error_at(at, &format!("needs https for `{key}`"), "begin it with https://");
    }
    Some(template::literal(url))
}

/// Reads `timeout`, a limit in milliseconds for the whole call.
fn timeouts(fields: &mut TableFields<'_, '_, '_>) -> ServerTimeouts {
    match fields.time("timeout", TimeUnit::Millis) {
        Some(limit) if limit < LEAST_TIMEOUT => {
            fields.warn("timeout", "is ignored", "give 1000 or more milliseconds");
            ServerTimeouts::default()
        }
        Some(limit) => ServerTimeouts::calls(limit),
        None => ServerTimeouts::default(),
    }
}

/// Writes an entry of this family of dialects.
pub(super) fn write(spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
    let mut rest = spec.clone();
    match &mut rest.transport {
        TransportSpec::Stdio(stdio) => write_helpers::stdio(stdio, &EntryKeys::COMMON, writer),
        TransportSpec::Http(http) => write_http(http, writer),
        TransportSpec::BuiltIn => {
            return write_helpers::report_undeclarable(writer, "it is built in");
        }
    }
    if let Some(time) =
        write_helpers::timeout(&mut rest.timeouts, TimeoutScope::Calls, LEAST_TIMEOUT)
    {
        writer.millis("timeout", time);
    }
    writer.text("description", rest.description.take().as_deref());
    if !std::mem::replace(&mut rest.enabled, true) {
        writer.flag("disabled", true);
    }
    write_helpers::report_losses(&rest, ID, writer);
}

fn write_http(http: &mut HttpSpec, writer: &mut EntryWriter<'_>) {
    let word = match std::mem::take(&mut http.kind) {
        HttpTransportKind::Auto => "http",
        HttpTransportKind::Streamable => "streamable-http",
        HttpTransportKind::Sse => "sse",
    };
    writer.text("type", Some(word));
    write_helpers::http(http, &EntryKeys::COMMON, writer);
    let helper = http.headers_helper.take();
    writer.text("headersHelper", helper.as_ref().map(|helper| helper.expose().as_str()));
    write_oauth(&mut http.auth.oauth, writer);
}

fn write_oauth(oauth: &mut OAuthSpec, writer: &mut EntryWriter<'_>) {
    writer.with_table("oauth", |inner| {
        literal(inner, "clientId", oauth.client_id.take());
        if let Some(port) = oauth.callback_port.take() {
            inner.data("callbackPort", ConfigValue::Integer(port.into()));
        }
        literal(inner, "authServerMetadataUrl", oauth.metadata_url.take());
        let scopes = std::mem::take(&mut oauth.scopes).join(" ");
        literal(inner, "scopes", Some(scopes).filter(|scopes| !scopes.is_empty()));
    });
}

fn literal(writer: &mut EntryWriter<'_>, key: &str, text: Option<String>) {
    let text =
        text.and_then(|text| write_helpers::render_literal(writer, &format!("oauth.{key}"), &text));
    writer.text(key, text.as_deref());
}
