//! `.mcp.json`: a map `mcpServers`, as Claude Code defined it and many hosts read it.
//!
//! Two differences to Claude Code are intended: `url` without `type` means HTTP, and `cwd` is used.
//! `~/.claude.json` has the same entries ([`super::claude_code`]).

use std::collections::BTreeMap;
use std::time::Duration;

use toolgate_model::{ConfigValue, OAuthSpec, Secret, ServerName, ServerSpec, TransportSpec};

use crate::common::entry::{
    self, EntryField, LeastTimeout, TimeoutField, TimeoutScope, render_literal,
};
use crate::common::fields::TimeUnit;
use crate::common::oauth;
use crate::common::server::{self, AUTO, EntryKeys, SSE, STREAMABLE};
use crate::common::tree::{TreeMember, find, find_table};
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{
    ConfigServerGroup, DialectFormat, EnabledField, ServerEntries, ServersLocation,
};
use crate::{VariableSyntax, template};

/// The dialect of `.mcp.json`.
pub(crate) const FORMAT: DialectFormat = DialectFormat {
    name: "mcp-json",
    paths: &[".mcp.json", "managed-mcp.json", ".config/mcp/mcp.json", ".agents/mcp/servers.json"],
    extras: "mcp-json",
    variables: VariableSyntax::Braces,
    enabled: Some(EnabledField { opposite_field: Some("enabled"), ..EnabledField::DISABLED }),
    keys: KEYS,
    fields: &[
        EntryField::CheckedTransport(check_transport),
        EntryField::Enabled,
        EntryField::Timeout(TimeoutField {
            key: "timeout",
            unit: TimeUnit::Millis,
            scope: TimeoutScope::Calls,
            least: Some(LeastTimeout {
                time: Duration::from_secs(1),
                problem: "is ignored",
                hint: "give 1000 or more milliseconds",
                is_used: false,
            }),
        }),
        EntryField::Text("description", |spec| &mut spec.description),
        EntryField::Other(read_auth, write_auth),
        EntryField::ReadOnly(warn_nested_defaults),
        EntryField::Kept(&["alwaysLoad"]),
    ],
    read: |format, name, fields| {
        if name.as_str() == RESERVED {
            let hint = "rename it if Claude Code should start it too";
            fields.warn(RESERVED, "is a name that Claude Code reserves", hint);
        }
        entry::read(format, name, fields)
    },
    locate_server: |document, name| Some(locate_server(document, name)),
    server_groups: Some(server_groups),
    ..DialectFormat::MCP_SERVERS
};

const KEYS: EntryKeys = EntryKeys {
    written_names: &[("http", AUTO), ("streamable-http", STREAMABLE), ("sse", SSE)],
    ..EntryKeys::COMMON
};
/// The names of the map; Nyzhi also accepts the second.
const MAPS: [&str; 2] = ["mcpServers", "mcp_servers"];
const OTHER_MAP: ServersLocation = ServersLocation::Map(&["mcp_servers"]);
/// A name that Claude Code reserves.
const RESERVED: &str = "workspace";

fn locate_server(document: &[TreeMember], name: &ServerName) -> ServersLocation {
    let has = |servers: &[TreeMember]| find(servers, name.as_str()).is_some();
    match MAPS.map(|key| find_table(document, key)) {
        [Some(servers), Some(others)] if !has(servers) && has(others) => OTHER_MAP,
        [None, Some(_)] => OTHER_MAP,
        _ if bare_servers(document).is_some() => ServersLocation::Map(&[]),
        _ => FORMAT.servers,
    }
}

/// Returns the servers. `.agents/mcp/servers.json` is only the map.
fn server_groups<'t>(top: &mut TableFields<'t>) -> Vec<ConfigServerGroup<'t>> {
    if let Some(servers) = bare_servers(top.members) {
        top.allow_unknown();
        return vec![ServerEntries::Map(servers).into()];
    }
    let found = [FORMAT.servers, OTHER_MAP].into_iter().filter_map(|place| top.servers(place));
    found.map(ConfigServerGroup::from).collect()
}

/// Returns the servers of a document that is only a map of them: every member is a table, and at
/// least one has a command or a URL.
pub(crate) fn bare_servers(document: &[TreeMember]) -> Option<&[TreeMember]> {
    let servers = match document.split_first() {
        Some((first, rest)) if first.key == "$schema" => rest,
        _ => document,
    };
    let is_server =
        |it: &TreeMember| it.node.field("command").is_some() || it.node.field("url").is_some();
    let is_bare = servers.iter().all(|it| it.node.table().is_some())
        && servers.iter().any(is_server)
        && !servers.iter().any(|it| MAPS.contains(&it.key.as_str()));
    is_bare.then_some(servers)
}

/// Rejects the type for WebSocket, which this dialect has: it is not supported, not unknown.
fn check_transport(entry: &mut TableFields<'_>) -> bool {
    for tag in KEYS.transport_keys {
        if let Some(node) = entry.node(tag).filter(|node| node.text() == Some("ws")) {
            let hint = "use its \"http\" or \"sse\" endpoint, if it has one";
            let problem = "is of type \"ws\": WebSocket is not supported";
            entry.error_with_value(node.at, problem, hint);
            return false;
        }
    }
    true
}

/// Warns about a default that contains a variable. Values are expanded once, so the variable name
/// itself would be sent. Claude Code expands headers twice, and nothing else.
fn warn_nested_defaults(entry: &mut TableFields<'_>, spec: &mut ServerSpec) {
    let is_nested = |text: &String| {
        let variables = template::variables(text);
        variables.iter().any(|it| it.default.as_ref().is_some_and(|text| text.contains("${")))
    };
    let any = |values: &BTreeMap<String, Secret<String>>| {
        values.values().map(Secret::expose).any(is_nested)
    };
    let found = match &spec.transport {
        TransportSpec::Stdio(stdio) => vec![
            ("command", is_nested(&stdio.command)),
            ("args", stdio.args.iter().any(is_nested)),
            ("env", any(&stdio.env)),
        ],
        TransportSpec::Http(http) => {
            vec![("url", is_nested(&http.url)), ("headers", any(&http.headers))]
        }
        TransportSpec::BuiltIn => Vec::new(),
    };
    for (key, _) in found.iter().filter(|(_, is_nested)| *is_nested) {
        let problem = "has a variable inside the default of another, which is not expanded";
        entry.warn(key, problem, "use one variable, or a default without variables");
    }
}

/// Reads how Toolgate authenticates to an endpoint. Claude Code expands none of these fields.
fn read_auth(entry: &mut TableFields<'_>, spec: &mut ServerSpec) {
    let helper = entry.owned_text("headersHelper").map(Secret::new);
    let oauth = entry.with_table("oauth", read_oauth);
    match &mut spec.transport {
        TransportSpec::Http(http) => {
            http.headers_helper = helper;
            http.auth.oauth = oauth.unwrap_or_default();
        }
        TransportSpec::Stdio(_) => {
            server::warn_unused(entry, "command", &["headersHelper", "oauth"]);
        }
        TransportSpec::BuiltIn => {}
    }
}

fn read_oauth(fields: &mut TableFields<'_>) -> OAuthSpec {
    let scopes = fields.text("scopes").unwrap_or_default();
    OAuthSpec {
        client_id: fields.text("clientId").map(template::literal),
        callback_port: oauth::read_port(fields, "callbackPort", ("port", "use a port up to 65535")),
        metadata_url: metadata_url(fields, "authServerMetadataUrl"),
        scopes: scopes.split_whitespace().map(template::literal).collect(),
        ..OAuthSpec::default()
    }
}

/// Returns the metadata URL, which must use HTTPS: its content determines where the user logs in.
fn metadata_url(fields: &mut TableFields<'_>, key: &'static str) -> Option<String> {
    let url = fields.text(key)?;
    if !url.starts_with("https://") {
        let at = fields.node(key)?.at;
        fields.error_at(at, &format!("needs https for `{key}`"), "begin it with https://");
    }
    Some(template::literal(url))
}

fn write_auth(rest: &mut ServerSpec, writer: &mut EntryWriter<'_>) {
    let TransportSpec::Http(http) = &mut rest.transport else { return };
    let helper = http.headers_helper.take();
    writer.text("headersHelper", helper.as_ref().map(|helper| helper.expose().as_str()));
    let oauth = &mut http.auth.oauth;
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
    let text = text.and_then(|text| render_literal(writer, &format!("oauth.{key}"), &text));
    writer.text(key, text.as_deref());
}
