//! VS Code's `mcp.json`.
//!
//! The same content can be under `customizations.vscode.mcp` in a devcontainer, and under `mcp` in
//! settings. It is read and changed there; new files have the form of `mcp.json`. `http` means any
//! HTTP transport that the endpoint supports.

mod inputs;

use toolgate_model::{
    ConfigValue, HttpSpec, HttpTransportKind, SandboxSpec, ServerName, ServerSpec, TransportSpec,
};

use super::write_helpers;
use crate::common::oauth::{self, OAuthField};
use crate::common::server::{self, EntryKeys};
use crate::common::tree::{TreeMember, TreeNode, TreeValue};
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{DialectFormat, ParsedEntry, ServerGroup, ServersLocation};
use crate::losses::ConversionLosses;
use crate::{FileSettings, Syntax, VariableSyntax};

/// The dialect of VS Code.
pub(crate) struct VsCode;

const ID: &str = "vscode";
const KEYS: EntryKeys = EntryKeys {
    transport_keys: &["type"],
    transport_names: &[
        ("stdio", None),
        ("http", Some(HttpTransportKind::Auto)),
        ("sse", Some(HttpTransportKind::Sse)),
    ],
    env_file: Some("envFile"),
    ..EntryKeys::COMMON
};
const SERVERS: ServersLocation = ServersLocation::Map(&["servers"]);
/// Other locations of servers, in files with other content.
const ELSEWHERE: [&[&str]; 2] =
    [&["mcp", "servers"], &["customizations", "vscode", "mcp", "servers"]];
/// Fields that only VS Code uses: watching, debugging, and where the server was found.
const KEPT: [&str; 3] = ["dev", "gallery", "version"];
const OAUTH: [(&str, OAuthField); 1] = [("clientId", OAuthField::ClientId)];

impl DialectFormat for VsCode {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn servers_location(&self) -> ServersLocation {
        SERVERS
    }

    fn locate_server(&self, document: &[TreeMember], name: &ServerName) -> ServersLocation {
        let has = |path: &&&[&str]| {
            let servers = table_at(document, path);
            servers.is_some_and(|(_, servers)| servers.iter().any(|it| it.key == name.as_str()))
        };
        let is_there = |path: &&&[&str]| table_at(document, path).is_some();
        let usual: &'static [&'static str] = &["servers"];
        let places = [usual, ELSEWHERE[0], ELSEWHERE[1]];
        let found = places.iter().find(has).or_else(|| places.iter().find(is_there));
        ServersLocation::Map(found.copied().unwrap_or(usual))
    }

    fn variable_syntax(&self) -> VariableSyntax {
        VariableSyntax::Editor
    }

    fn is_servers_only(&self) -> bool {
        true
    }

    fn server_groups<'t>(&self, top: &mut TableFields<'t, '_, '_>) -> Vec<ServerGroup<'t>> {
        let mut groups: Vec<_> = top.servers(SERVERS).into_iter().collect();
        for (at, members) in embedded_tables(top) {
            let mut inner = TableFields::of(top.diagnostics(), "`mcp`".to_owned(), at, members);
            groups.extend(inner.servers(SERVERS));
        }
        groups.into_iter().map(|servers| ServerGroup { servers, only_in: None }).collect()
    }

    fn read_settings(&self, top: &mut TableFields<'_, '_, '_>) -> FileSettings {
        let mut settings = FileSettings::default();
        inputs::read(top, &mut settings);
        top.with_table("sandbox", |inner| sandbox(inner));
        let elsewhere = embedded_tables(top);
        for (at, members) in &elsewhere {
            let mut inner = TableFields::of(top.diagnostics(), "`mcp`".to_owned(), *at, members);
            inputs::read(&mut inner, &mut settings);
            inner.with_table("sandbox", |inner| sandbox(inner));
            inner.mark_known(&["servers"]);
            inner.finish();
        }
        if !elsewhere.is_empty() {
            top.allow_unknown();
        }
        settings
    }

    fn read(&self, name: ServerName, entry: &mut TableFields<'_, '_, '_>) -> Option<ParsedEntry> {
        let mut transport = transport(entry);
        match &mut transport {
            Some(TransportSpec::Http(http)) => {
                entry.with_table("oauth", |inner| oauth::read(inner, &OAUTH, &mut http.auth.oauth));
                server::warn_unused(entry, "url", &["envFile", "sandbox", "sandboxEnabled"]);
            }
            Some(_) => server::warn_unused(entry, "command", &["oauth"]),
            None => entry.mark_known(&["oauth"]),
        }
        let mut confined = entry.with_table("sandbox", |inner| sandbox(inner)).unwrap_or_default();
        confined.enabled = entry.flag("sandboxEnabled");
        let extras = entry.read_extras(&KEPT).map(|kept| (ID.to_owned(), kept));
        let mut spec = ServerSpec::new(name, transport?);
        if matches!(spec.transport, TransportSpec::Stdio(_)) {
            spec.safety.sandbox = confined;
        }
        spec.extras.extend(extras);
        Some(spec.into())
    }

    /// Applies the shared sandbox to a process without its own.
    fn apply_shared_settings(
        &self,
        spec: &mut ServerSpec,
        entry: &[TreeMember],
        top: &mut TableFields<'_, '_, '_>,
    ) -> Option<(String, String)> {
        let is_process = matches!(spec.transport, TransportSpec::Stdio(_));
        if !is_process || entry.iter().any(|member| member.key == "sandbox") {
            return None;
        }
        let mut found = top.with_table("sandbox", |inner| sandbox(inner));
        for (at, members) in embedded_tables(top) {
            let mut inner = TableFields::of(top.diagnostics(), "`mcp`".to_owned(), at, members);
            found = found.or(inner.with_table("sandbox", |inner| sandbox(inner)));
        }
        let enabled = spec.safety.sandbox.enabled;
        spec.safety.sandbox = SandboxSpec { enabled, ..found.unwrap_or_default() };
        None
    }

    fn write(&self, spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
        let mut rest = spec.clone();
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => {
                writer.text("type", Some("stdio"));
                write_helpers::stdio(stdio, &KEYS, writer);
                write_sandbox(&mut rest.safety.sandbox, writer);
            }
            TransportSpec::Http(http) => write_http(http, writer),
            TransportSpec::BuiltIn => {
                return write_helpers::report_undeclarable(writer, "it is built in");
            }
        }
        write_helpers::report_losses(&rest, ID, writer);
    }

    fn remove_implied(
        &self,
        document: &[TreeMember],
        entry: &[TreeMember],
        fields: &mut Vec<(String, ConfigValue)>,
    ) {
        let places = [&["sandbox"][..], &["mcp", "sandbox"]];
        let places =
            places.into_iter().chain([&["customizations", "vscode", "mcp", "sandbox"][..]]);
        let Some((at, members)) = places.filter_map(|path| table_at(document, path)).next() else {
            return;
        };
        if entry.iter().any(|member| member.key == "sandbox") {
            return;
        }
        let usual = TreeNode { at, value: TreeValue::Table(members.to_vec()) }.data();
        fields.retain(|(key, said)| key != "sandbox" || !same_tables(said, &usual));
    }

    fn write_settings(
        &self,
        settings: &FileSettings,
        losses: &mut ConversionLosses,
    ) -> Vec<(&'static [&'static str], ConfigValue)> {
        let inputs = inputs::write(settings, losses);
        match inputs.is_empty() {
            true => Vec::new(),
            false => vec![(&["inputs"], ConfigValue::List(inputs))],
        }
    }
}

/// Returns true if two tables are equal regardless of order.
fn same_tables(a: &ConfigValue, b: &ConfigValue) -> bool {
    match (a, b) {
        (ConfigValue::Table(fields), ConfigValue::Table(others)) => {
            let has = |(key, value): &(String, ConfigValue)| {
                b.get(key).is_some_and(|other| same_tables(value, other))
            };
            fields.len() == others.len() && fields.iter().all(has)
        }
        _ => a == b,
    }
}

/// Returns the tables in other files that have the content of `mcp.json`.
fn embedded_tables<'t>(top: &mut TableFields<'t, '_, '_>) -> Vec<(usize, &'t [TreeMember])> {
    top.mark_known(&["mcp", "customizations"]);
    let document = top.members();
    ELSEWHERE.iter().filter_map(|path| table_at(document, &path[..path.len() - 1])).collect()
}

fn table_at<'t>(members: &'t [TreeMember], path: &[&str]) -> Option<(usize, &'t [TreeMember])> {
    let (first, rest) = path.split_first()?;
    let node = &members.iter().find(|member| member.key == *first)?.node;
    match &node.value {
        TreeValue::Table(inner) if rest.is_empty() => Some((node.at, inner)),
        TreeValue::Table(inner) => table_at(inner, rest),
        _ => None,
    }
}

/// Reads the process to start or the endpoint to connect to.
fn transport(entry: &mut TableFields<'_, '_, '_>) -> Option<TransportSpec> {
    if let Some(TreeNode { at, value: TreeValue::Text(url) }) = entry.node("url")
        && let Some(scheme) = ["unix", "pipe"].into_iter().find(|it| has_scheme(url, it))
    {
        let problem = format!("has a {scheme} URL, which is not supported");
        entry.error_at(*at, &problem, "use an http:// or https:// URL");
        entry.mark_known(&["type", "command", "args", "env", "envFile", "cwd", "headers"]);
        return None;
    }
    server::read_transport(entry, &KEYS)
}

fn has_scheme(url: &str, scheme: &str) -> bool {
    url.strip_prefix(scheme).is_some_and(|rest| rest.starts_with(':'))
}

/// Reads the sandbox of a process.
fn sandbox(fields: &mut TableFields<'_, '_, '_>) -> SandboxSpec {
    let mut sandbox = SandboxSpec::default();
    fields.with_table("filesystem", |inner| {
        sandbox.allow_write = inner.templates("allowWrite").unwrap_or_default();
        sandbox.deny_read = inner.templates("denyRead").unwrap_or_default();
        sandbox.deny_write = inner.templates("denyWrite").unwrap_or_default();
    });
    fields.with_table("network", |inner| {
        sandbox.allowed_domains = inner.texts("allowedDomains").unwrap_or_default();
        sandbox.denied_domains = inner.texts("deniedDomains").unwrap_or_default();
    });
    sandbox
}

fn write_http(http: &mut HttpSpec, writer: &mut EntryWriter<'_>) {
    let word = match std::mem::take(&mut http.kind) {
        // VS Code tries this transport first.
        HttpTransportKind::Auto | HttpTransportKind::Streamable => "http",
        HttpTransportKind::Sse => "sse",
    };
    writer.text("type", Some(word));
    write_helpers::http(http, &KEYS, writer);
    let oauth = oauth::write(writer, &OAUTH, &mut http.auth.oauth);
    if !oauth.is_empty() {
        writer.data("oauth", ConfigValue::Table(oauth));
    }
}

fn write_sandbox(sandbox: &mut SandboxSpec, writer: &mut EntryWriter<'_>) {
    let profile = sandbox.profile.take();
    let said = std::mem::replace(sandbox, SandboxSpec { profile, ..SandboxSpec::default() });
    let SandboxSpec { enabled, allow_write, deny_read, deny_write, .. } = said;
    if let Some(enabled) = enabled {
        writer.flag("sandboxEnabled", enabled);
    }
    let paths = [("allowWrite", allow_write), ("denyRead", deny_read), ("denyWrite", deny_write)];
    let filesystem = paths.into_iter().map(|(key, paths)| {
        let written = paths.iter().filter_map(|path| writer.translate("sandbox", path));
        (key, written.collect())
    });
    let filesystem = lists(filesystem.collect());
    let network = lists(vec![
        ("allowedDomains", said.allowed_domains),
        ("deniedDomains", said.denied_domains),
    ]);
    let parts = [("filesystem", filesystem), ("network", network)].into_iter();
    let parts = parts.filter_map(|(key, part)| Some((key.to_owned(), part?)));
    let parts: Vec<_> = parts.collect();
    if !parts.is_empty() {
        writer.data("sandbox", ConfigValue::Table(parts));
    }
}

/// Returns the lists that are not empty.
fn lists(lists: Vec<(&str, Vec<String>)>) -> Option<ConfigValue> {
    let full = lists.into_iter().filter(|(_, texts)| !texts.is_empty());
    let full: Vec<_> =
        full.map(|(key, texts)| (key.to_owned(), ConfigValue::texts(texts))).collect();
    (!full.is_empty()).then_some(ConfigValue::Table(full))
}
