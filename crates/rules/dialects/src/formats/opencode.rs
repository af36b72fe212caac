//! opencode's `opencode.json`, of both versions.
//!
//! The path of a file does not tell the versions apart, so both readers accept both forms, and each
//! writes its own. A single `timeout` limits the start and each call. Progress restarts it, so it
//! does not limit the whole call.

use std::time::Duration;

use toolgate_model::{
    AuthProvider, ConfigValue, HttpSpec, HttpTransportKind, ServerName, ServerSpec, ServerTimeouts,
    TransportSpec,
};

use crate::VariableSyntax;
use crate::common::entry::{self, EntryField};
use crate::common::fields::TimeUnit;
use crate::common::oauth::{self, OAuthField, OAuthKeys};
use crate::common::server::{self, EntryKeys};
use crate::common::tree::{TreeMember, TreeValue, find, find_table};
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{
    ConfigServerGroup, DialectFormat, EnabledField, ParsedEntry, ServerEntries, ServersLocation,
};

/// The dialect of opencode, first version.
pub(crate) const FORMAT: DialectFormat = DialectFormat {
    name: "opencode",
    paths: &["opencode.json", "opencode.jsonc"],
    extras: "opencode",
    servers: ServersLocation::Map(&["mcp"]),
    variables: VariableSyntax::Curly,
    servers_only: false,
    enabled: Some(EnabledField { opposite_field: Some("disabled"), ..EnabledField::ENABLED }),
    fields: &[
        EntryField::Other(read_transport, |rest, writer| write_transport(rest, &OAUTH, writer)),
        EntryField::Enabled,
        EntryField::Other(read_timeouts, |rest, writer| {
            let ServerTimeouts { start, call, .. } = rest.timeouts;
            if let Some(limit) = call
                && start == call
                && rest.timeouts == silence_timeouts(start, call)
            {
                writer.millis("timeout", limit);
                rest.timeouts = ServerTimeouts::default();
            }
        }),
    ],
    read,
    locate_server,
    server_groups: Some(server_groups),
    apply_shared_settings: |spec, _, top| hidden_tools(spec, top),
    ..DialectFormat::MCP_SERVERS
};

/// The dialect of opencode, second version.
pub(crate) const V2_FORMAT: DialectFormat = DialectFormat {
    name: "opencode-v2",
    paths: &[],
    extras: "opencode-v2",
    servers: ServersLocation::Map(&["mcp", "servers"]),
    enabled: Some(EnabledField { opposite_field: Some("enabled"), ..EnabledField::DISABLED }),
    fields: &[
        EntryField::Other(read_transport, |rest, writer| write_transport(rest, &OAUTH_V2, writer)),
        EntryField::Enabled,
        EntryField::Other(read_timeouts, write_timeouts),
    ],
    ..FORMAT
};

const KEYS: EntryKeys = EntryKeys { env: "environment", ..EntryKeys::COMMON };
/// Fields that tell an entry from a table of entries.
const TELLING: [&str; 5] = ["type", "command", "url", "enabled", "disabled"];
/// The OAuth field names of the first version.
const OAUTH: [(&str, OAuthField); 5] = [
    ("clientId", OAuthField::CLIENT_ID),
    ("clientSecret", OAuthField::ClientSecret),
    ("scope", OAuthField::ScopeText),
    ("callbackPort", OAuthField::CallbackPort),
    ("redirectUri", OAuthField::REDIRECT_URI),
];
/// The OAuth field names of the second version.
const OAUTH_V2: [(&str, OAuthField); 5] = [
    ("client_id", OAuthField::CLIENT_ID),
    ("client_secret", OAuthField::ClientSecret),
    ("scope", OAuthField::ScopeText),
    ("callback_port", OAuthField::CallbackPort),
    ("redirect_uri", OAuthField::REDIRECT_URI),
];

/// Returns the limits for the start and for a call without messages. The latter may be longer than
/// the default limit of a call.
fn silence_timeouts(start: Option<Duration>, call: Option<Duration>) -> ServerTimeouts {
    let max = call.filter(|call| *call > ServerTimeouts::default().max());
    ServerTimeouts { start, call, max }
}

/// Returns where a server of a document is or belongs, in either version; `None` if the document
/// has no servers yet.
fn locate_server(document: &[TreeMember], name: &ServerName) -> Option<ServersLocation> {
    let members = find_table(document, "mcp")?;
    let has = |members| find(members, name.as_str()).is_some();
    match v2_servers(members) {
        Some(servers) if !has(servers) && has(members) && name.as_str() != "servers" => {
            Some(FORMAT.servers)
        }
        Some(_) => Some(V2_FORMAT.servers),
        None => (!members.is_empty()).then_some(FORMAT.servers),
    }
}

/// Returns the servers of the second version, if there are any.
pub(crate) fn v2_servers(mcp: &[TreeMember]) -> Option<&[TreeMember]> {
    find_table(mcp, "servers").filter(|inner| !is_entry(inner))
}

/// Returns the entries of a document of either version.
fn server_groups<'t>(top: &mut TableFields<'t>) -> Vec<ConfigServerGroup<'t>> {
    let Some((_, members)) = top.table("mcp") else { return Vec::new() };
    let Some(servers) = v2_servers(members) else {
        return vec![ServerEntries::Map(members).into()];
    };
    // Entries of the first version may remain beside those of the second.
    let left = members.chunks(1).filter(|member| member[0].node.table().is_some_and(is_entry));
    std::iter::once(servers).chain(left).map(|it| ServerEntries::Map(it).into()).collect()
}

/// Returns true if a table is an entry: one of its identifying fields is not a table.
fn is_entry(members: &[TreeMember]) -> bool {
    let telling = |member: &&TreeMember| TELLING.contains(&member.key.as_str());
    members.iter().filter(telling).any(|member| member.node.table().is_none())
}

/// Reads an entry of either version.
fn read(
    format: &DialectFormat,
    name: ServerName,
    fields: &mut TableFields<'_>,
) -> Option<ParsedEntry> {
    fields.mark_known(&["disabled", "enabled", "timeout", "type"]);
    let declares = fields.has("command") || fields.has("url");
    if !declares && (fields.has("disabled") || fields.has("enabled")) {
        let (disabled, enabled) = (fields.flag("disabled"), fields.flag("enabled"));
        fields.choice("type", &TYPES);
        read_timeouts(fields, &mut ServerSpec::new(name, TransportSpec::BuiltIn));
        let enabled = enabled.or(disabled.map(|it| !it));
        return Some(ParsedEntry::Override { enabled, env_inherit: Vec::new() });
    }
    if !fields.has("type") {
        fields.warn("type", "is missing", "opencode needs \"local\" or \"remote\" there");
    }
    entry::read(format, name, fields)
}

/// The types of entries, and whether they are endpoints.
const TYPES: [(&str, bool); 2] = [("local", false), ("remote", true)];

fn read_transport(entry: &mut TableFields<'_>, spec: &mut ServerSpec) {
    let is_remote = entry.choice("type", &TYPES);
    let transport = match (entry.has("command"), entry.has("url")) {
        (true, false) => {
            check_type(entry, is_remote, true, "command");
            server::warn_unused(entry, "command", &["headers", "oauth"]);
            local(entry)
        }
        (false, true) => {
            check_type(entry, is_remote, false, "url");
            server::warn_unused(entry, "url", &["environment", "cwd"]);
            remote(entry)
        }
        (has_both, _) => server::report_transport_fields(entry, has_both, "command", "url"),
    };
    entry.mark_known(&["environment", "cwd", "headers", "oauth"]);
    spec.transport = transport.unwrap_or(TransportSpec::BuiltIn);
}

/// Reports a type that contradicts the other fields.
fn check_type(entry: &mut TableFields<'_>, is_remote: Option<bool>, wrong: bool, has: &str) {
    if is_remote == Some(wrong) {
        let word = if wrong { "remote" } else { "local" };
        let at = entry.node("type").map_or(0, |node| node.at);
        let hint = format!("change the type, or replace `{has}`");
        entry.error_with_value(at, &format!("is of type {word:?} but has `{has}`"), &hint);
    }
}

fn local(entry: &mut TableFields<'_>) -> Option<TransportSpec> {
    let mut words = entry.templates("command")?.into_iter();
    let mut stdio = server::read_stdio(entry, words.next().unwrap_or_default(), &KEYS);
    stdio.args = words.collect();
    server::check_stdio(entry, &stdio, "command");
    Some(TransportSpec::Stdio(stdio))
}

fn remote(entry: &mut TableFields<'_>) -> Option<TransportSpec> {
    let url = entry.template("url")?;
    let headers = entry.secrets("headers");
    let mut http = HttpSpec { url, headers, ..HttpSpec::default() };
    server::check_http(entry, &http, "url");
    match entry.node("oauth").is_some_and(|node| node.value == TreeValue::Flag(false)) {
        true => http.auth.provider = AuthProvider::Off,
        false => {
            entry.with_table("oauth", |inner| {
                oauth::read(inner, &OAUTH, &mut http.auth.oauth);
                oauth::read(inner, &OAUTH_V2, &mut http.auth.oauth);
            });
        }
    }
    Some(TransportSpec::Http(http))
}

fn read_timeouts(entry: &mut TableFields<'_>, spec: &mut ServerSpec) {
    let is_table = entry.node("timeout").is_some_and(|node| node.table().is_some());
    let [start, call] = match is_table {
        true => {
            let read = |inner: &mut TableFields<'_>| {
                ["startup", "request"].map(|key| inner.time(key, TimeUnit::Millis))
            };
            entry.with_table("timeout", read).unwrap_or_default()
        }
        false => [entry.time("timeout", TimeUnit::Millis); 2],
    };
    spec.timeouts = silence_timeouts(start, call);
}

/// Warns about tools that `tools` hides. `tools` may hide tools from all agents and show them to
/// some again, so it is not translated.
fn hidden_tools(spec: &ServerSpec, top: &mut TableFields<'_>) -> Option<(String, String)> {
    let (_, members) = top.table("tools")?;
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let prefix: String = spec.name.as_str().chars().map(plain).chain(['_']).collect();
    let hides = |member: &&TreeMember| {
        member.key.starts_with(&prefix) && member.node.value == TreeValue::Flag(false)
    };
    let glob = &members.iter().find(hides)?.key;
    let problem = format!("has tools that `tools` hides with {glob:?}: toolgate shows them");
    Some((problem, "hide them with `exclude` in toolgate's own file".to_owned()))
}

fn write_transport(rest: &mut ServerSpec, names: &OAuthKeys, writer: &mut EntryWriter<'_>) {
    match &mut rest.transport {
        TransportSpec::Stdio(stdio) => {
            writer.text("type", Some("local"));
            // Without the program, its first argument would be taken as the program.
            if let Some(program) = writer.translate("command", &stdio.command) {
                let args = stdio.args.iter().filter_map(|arg| writer.translate("args", arg));
                let words: Vec<_> = std::iter::once(program).chain(args).collect();
                writer.data("command", ConfigValue::texts(words));
            }
            writer.secrets(KEYS.env, "env", &stdio.env);
            writer.cwd(KEYS.cwd, stdio.cwd.as_deref());
        }
        TransportSpec::Http(http) => {
            writer.text("type", Some("remote"));
            server::write_http(http, &KEYS, writer);
            // opencode tries this transport first, so it is not written.
            if http.kind == HttpTransportKind::Streamable {
                http.kind = HttpTransportKind::Auto;
            }
            if http.auth.provider == AuthProvider::Off {
                http.auth.provider = AuthProvider::Discovered;
                return writer.flag("oauth", false);
            }
            writer.with_table("oauth", |it| oauth::write(it, names, &mut http.auth.oauth));
        }
        TransportSpec::BuiltIn => {}
    }
}

/// Writes the limits of the second version.
fn write_timeouts(rest: &mut ServerSpec, writer: &mut EntryWriter<'_>) {
    let (usual, said) = (ServerTimeouts::default(), rest.timeouts);
    writer.with_table("timeout", |inner| {
        for (key, time) in [("startup", said.start), ("request", said.call)] {
            if let Some(time) = time {
                inner.millis(key, time);
            }
        }
    });
    // Reading it back changes at most the limit of the whole call.
    let read = silence_timeouts(said.start, said.call);
    rest.timeouts = if read == said { usual } else { ServerTimeouts { max: said.max, ..usual } };
}
