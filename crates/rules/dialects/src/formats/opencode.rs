//! opencode's `opencode.json`, and the code shared with its second version.
//!
//! The path of a file does not tell the versions apart, so both readers accept both forms, and each
//! writes its own. A single `timeout` limits the start and each call. Progress restarts it, so it
//! does not limit the whole call.

use std::time::Duration;

use toolgate_model::{
    AuthProvider, ConfigValue, HttpSpec, HttpTransportKind, ServerName, ServerSpec, ServerTimeouts,
    StdioSpec, TransportSpec,
};

use super::write_helpers;
use crate::common::fields::TimeUnit;
use crate::common::oauth::{self, OAuthField};
use crate::common::server::{self, EntryKeys};
use crate::common::tree::{TreeMember, TreeNode, TreeValue};
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{
    DialectFormat, EnabledField, ParsedEntry, ServerEntries, ServerGroup, ServersLocation,
};
use crate::{Syntax, VariableSyntax};

/// The dialect of opencode, first version.
pub(crate) struct OpenCode;

const KEYS: EntryKeys = EntryKeys { env: "environment", ..EntryKeys::COMMON };
/// Where servers are in the first version, and in the second.
const V1_LOCATION: ServersLocation = ServersLocation::Map(&["mcp"]);
pub(super) const V2_LOCATION: ServersLocation = ServersLocation::Map(&["mcp", "servers"]);
/// Fields that tell an entry from a table of entries.
const TELLING: [&str; 5] = ["type", "command", "url", "enabled", "disabled"];
/// The OAuth field names of the first version.
const OAUTH: [(&str, OAuthField); 5] = [
    ("clientId", OAuthField::ClientId),
    ("clientSecret", OAuthField::ClientSecret),
    ("scope", OAuthField::ScopeText),
    ("callbackPort", OAuthField::CallbackPort),
    ("redirectUri", OAuthField::RedirectUri),
];
/// The OAuth field names of the second version.
pub(super) const OAUTH_V2: [(&str, OAuthField); 5] = [
    ("client_id", OAuthField::ClientId),
    ("client_secret", OAuthField::ClientSecret),
    ("scope", OAuthField::ScopeText),
    ("callback_port", OAuthField::CallbackPort),
    ("redirect_uri", OAuthField::RedirectUri),
];

impl DialectFormat for OpenCode {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn servers_location(&self) -> ServersLocation {
        V1_LOCATION
    }

    fn locate_server(&self, document: &[TreeMember], name: &ServerName) -> ServersLocation {
        locate_in_document(document, name).unwrap_or(V1_LOCATION)
    }

    fn variable_syntax(&self) -> VariableSyntax {
        VariableSyntax::Curly
    }

    fn is_servers_only(&self) -> bool {
        false
    }

    fn enabled_field(&self) -> Option<EnabledField> {
        Some(EnabledField {
            field: "enabled",
            value_when_enabled: true,
            opposite_field: Some("disabled"),
        })
    }

    fn server_groups<'t>(&self, top: &mut TableFields<'t, '_, '_>) -> Vec<ServerGroup<'t>> {
        groups(top)
    }

    fn read(&self, name: ServerName, entry: &mut TableFields<'_, '_, '_>) -> Option<ParsedEntry> {
        read(name, entry)
    }

    fn apply_shared_settings(
        &self,
        spec: &mut ServerSpec,
        _entry: &[TreeMember],
        top: &mut TableFields<'_, '_, '_>,
    ) -> Option<(String, String)> {
        hidden_tools(spec, top)
    }

    fn write(&self, spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
        let mut rest = spec.clone();
        if !write_transport(&mut rest.transport, &OAUTH, writer) {
            return;
        }
        if !std::mem::replace(&mut rest.enabled, true) {
            writer.flag("enabled", false);
        }
        let ServerTimeouts { start, call, .. } = rest.timeouts;
        if let Some(limit) = call
            && start == call
            && rest.timeouts == silence_timeouts(start, call)
        {
            writer.millis("timeout", limit);
            rest.timeouts = ServerTimeouts::default();
        }
        write_helpers::report_losses(&rest, "opencode", writer);
    }
}

/// Returns the limits for the start and for a call without messages. The latter may be longer than
/// the default limit of a call.
pub(super) fn silence_timeouts(start: Option<Duration>, call: Option<Duration>) -> ServerTimeouts {
    let max = call.filter(|call| *call > ServerTimeouts::default().max());
    ServerTimeouts { start, call, max }
}

/// Returns where a server of a document is or belongs, in either version; `None` if the document
/// has no servers yet.
pub(super) fn locate_in_document(
    document: &[TreeMember],
    name: &ServerName,
) -> Option<ServersLocation> {
    let mcp = document.iter().find(|member| member.key == "mcp")?;
    let TreeValue::Table(members) = &mcp.node.value else { return None };
    let is_meant = |member: &TreeMember| member.key == name.as_str();
    match v2_servers(members) {
        Some(servers) if servers.iter().any(is_meant) => Some(V2_LOCATION),
        Some(_) if members.iter().any(|it| is_meant(it) && it.key != "servers") => {
            Some(V1_LOCATION)
        }
        Some(_) => Some(V2_LOCATION),
        None => (!members.is_empty()).then_some(V1_LOCATION),
    }
}

/// Returns true if `mcp` has the form of the second version, with or without servers.
pub(crate) fn is_v2(mcp: &[TreeMember]) -> bool {
    v2_servers(mcp).is_some()
}

/// Returns the servers of the second version, if there are any.
fn v2_servers(mcp: &[TreeMember]) -> Option<&[TreeMember]> {
    mcp.iter().find_map(|member| match &member.node.value {
        TreeValue::Table(inner) if member.key == "servers" && !is_entry(inner) => Some(&inner[..]),
        _ => None,
    })
}

/// Returns the entries of a document of either version.
pub(super) fn groups<'t>(top: &mut TableFields<'t, '_, '_>) -> Vec<ServerGroup<'t>> {
    let Some((_, members)) = top.table("mcp") else { return Vec::new() };
    let group = |members| ServerGroup { servers: ServerEntries::Map(members), only_in: None };
    match v2_servers(members) {
        None => vec![group(members)],
        // Entries of the first version may remain beside those of the second.
        Some(servers) => {
            let left = members.chunks(1).filter(|member| match &member[0].node.value {
                TreeValue::Table(inner) => is_entry(inner),
                _ => false,
            });
            std::iter::once(servers).chain(left).map(group).collect()
        }
    }
}

/// Returns true if a table is an entry: one of its identifying fields is not a table.
fn is_entry(members: &[TreeMember]) -> bool {
    let telling = |member: &&TreeMember| TELLING.contains(&member.key.as_str());
    members.iter().filter(telling).any(|member| !matches!(member.node.value, TreeValue::Table(_)))
}

/// Reads an entry of either version.
pub(super) fn read(name: ServerName, entry: &mut TableFields<'_, '_, '_>) -> Option<ParsedEntry> {
    let disabled = entry.flag("disabled");
    let enabled = entry.flag("enabled");
    let timeouts = timeouts(entry);
    let is_remote = entry.choice("type", &[("local", false), ("remote", true)]);
    let found = ["command", "url"].map(|key| entry.node(key));
    match (found, enabled.or(disabled.map(|it| !it))) {
        ([None, None], Some(enabled)) => {
            return Some(ParsedEntry::Override { enabled: Some(enabled), env_inherit: Vec::new() });
        }
        _ if is_remote.is_none() && entry.node("type").is_none() => {
            entry.warn("type", "is missing", "opencode needs \"local\" or \"remote\" there");
        }
        _ => {}
    }
    let transport = match found {
        [Some(_), None] => {
            check_type(entry, is_remote, true, "command");
            server::warn_unused(entry, "command", &["headers", "oauth"]);
            local(entry)
        }
        [None, Some(_)] => {
            check_type(entry, is_remote, false, "url");
            server::warn_unused(entry, "url", &["environment", "cwd"]);
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
    entry.mark_known(&["environment", "cwd", "headers", "oauth"]);
    let enabled = enabled.unwrap_or(true) && !disabled.unwrap_or(false);
    Some(ServerSpec { enabled, timeouts, ..ServerSpec::new(name, transport?) }.into())
}

/// Reports a type that contradicts the other fields.
fn check_type(
    entry: &mut TableFields<'_, '_, '_>,
    is_remote: Option<bool>,
    wrong: bool,
    has: &str,
) {
    if is_remote == Some(wrong) {
        let word = if wrong { "remote" } else { "local" };
        let at = entry.node("type").map_or(0, |node| node.at);
        let hint = format!("change the type, or replace `{has}`");
        entry.error_with_value(at, &format!("is of type {word:?} but has `{has}`"), &hint);
    }
}

fn local(entry: &mut TableFields<'_, '_, '_>) -> Option<TransportSpec> {
    let mut words = entry.templates("command")?.into_iter();
    let mut stdio = server::read_stdio(entry, words.next().unwrap_or_default(), &KEYS);
    stdio.args = words.collect();
    server::check_stdio(entry, &stdio, "command");
    Some(TransportSpec::Stdio(stdio))
}

fn remote(entry: &mut TableFields<'_, '_, '_>) -> Option<TransportSpec> {
    let url = entry.template("url")?;
    let headers = entry.secrets("headers");
    let mut http = HttpSpec { url, headers, ..HttpSpec::default() };
    server::check_http(entry, &http, "url");
    match entry.node("oauth") {
        Some(TreeNode { value: TreeValue::Flag(false), .. }) => {
            http.auth.provider = AuthProvider::Off
        }
        _ => {
            entry.with_table("oauth", |inner| {
                oauth::read(inner, &OAUTH, &mut http.auth.oauth);
                oauth::read(inner, &OAUTH_V2, &mut http.auth.oauth);
            });
        }
    }
    Some(TransportSpec::Http(http))
}

fn timeouts(entry: &mut TableFields<'_, '_, '_>) -> ServerTimeouts {
    let (start, call) = match entry.node("timeout") {
        Some(TreeNode { value: TreeValue::Table(_), .. }) => {
            let read = |inner: &mut TableFields<'_, '_, '_>| {
                ["startup", "request"].map(|key| inner.time(key, TimeUnit::Millis))
            };
            let [start, call] = entry.with_table("timeout", read).unwrap_or_default();
            (start, call)
        }
        _ => {
            let limit = entry.time("timeout", TimeUnit::Millis);
            (limit, limit)
        }
    };
    silence_timeouts(start, call)
}

/// Warns about tools that `tools` hides. `tools` may hide tools from all agents and show them to
/// some again, so it is not translated.
pub(super) fn hidden_tools(
    spec: &ServerSpec,
    top: &mut TableFields<'_, '_, '_>,
) -> Option<(String, String)> {
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

/// Writes the process or the endpoint. Returns false if the server is neither.
pub(super) fn write_transport(
    transport: &mut TransportSpec,
    names: &oauth::OAuthKeys,
    writer: &mut EntryWriter<'_>,
) -> bool {
    match transport {
        TransportSpec::Stdio(stdio) => write_local(stdio, writer),
        TransportSpec::Http(http) => write_remote(http, names, writer),
        TransportSpec::BuiltIn => {
            write_helpers::report_undeclarable(writer, "it is built in");
            return false;
        }
    }
    true
}

fn write_local(stdio: &StdioSpec, writer: &mut EntryWriter<'_>) {
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

fn write_remote(http: &mut HttpSpec, names: &oauth::OAuthKeys, writer: &mut EntryWriter<'_>) {
    writer.text("type", Some("remote"));
    write_helpers::http(http, &KEYS, writer);
    // opencode tries this transport first, so it is not written.
    if http.kind == HttpTransportKind::Streamable {
        http.kind = HttpTransportKind::Auto;
    }
    if http.auth.provider == AuthProvider::Off {
        http.auth.provider = AuthProvider::Discovered;
        return writer.flag("oauth", false);
    }
    let oauth = oauth::write(writer, names, &mut http.auth.oauth);
    if !oauth.is_empty() {
        writer.data("oauth", ConfigValue::Table(oauth));
    }
}
