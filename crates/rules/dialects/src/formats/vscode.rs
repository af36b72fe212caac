//! VS Code's `mcp.json`.
//!
//! The same content can be under `customizations.vscode.mcp` in a devcontainer, and under `mcp` in
//! settings. It is read and changed there; new files have the form of `mcp.json`. `http` means any
//! HTTP transport that the endpoint supports.

mod inputs;

use toolgate_model::{ConfigValue, SandboxSpec, ServerName, ServerSpec, TransportSpec};

use crate::common::entry::EntryField;
use crate::common::oauth::OAuthField;
use crate::common::server::{self, AUTO, EntryKeys, SSE, STREAMABLE};
use crate::common::tree::{TreeMember, TreeNode, find, find_path};
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{ConfigServerGroup, DialectFormat, ServersLocation};
use crate::edit::is_same_value;
use crate::{FileSettings, VariableSyntax};

/// The dialect of VS Code.
pub(crate) const FORMAT: DialectFormat = DialectFormat {
    name: ID,
    paths: &[".vscode/mcp.json"],
    extras: ID,
    servers: ServersLocation::Map(&["servers"]),
    variables: VariableSyntax::Editor,
    keys: KEYS,
    fields: &[
        EntryField::CheckedTransport(check_transport),
        EntryField::OAuth("oauth", &[("clientId", OAuthField::CLIENT_ID)]),
        EntryField::Other(read_sandbox, write_sandbox),
        // Watching, debugging, and where the server was found.
        EntryField::Kept(&["dev", "gallery", "version"]),
    ],
    locate_server: |document, name| Some(locate_server(document, name)),
    server_groups: Some(|top| {
        let mut groups: Vec<_> = top.servers(FORMAT.servers).into_iter().collect();
        for mut inner in embedded_tables(top) {
            groups.extend(inner.servers(FORMAT.servers));
        }
        groups.into_iter().map(ConfigServerGroup::from).collect()
    }),
    read_settings: |top| {
        let mut settings = FileSettings::default();
        inputs::read(top, &mut settings);
        top.with_table("sandbox", sandbox);
        let mut is_embedded = false;
        for mut inner in embedded_tables(top) {
            inputs::read(&mut inner, &mut settings);
            inner.with_table("sandbox", sandbox);
            inner.mark_known(&["servers"]);
            inner.finish();
            is_embedded = true;
        }
        if is_embedded {
            top.allow_unknown();
        }
        settings
    },
    write_settings: |settings, losses| {
        let inputs = inputs::write(settings, losses);
        match inputs.is_empty() {
            true => Vec::new(),
            false => vec![(&["inputs"], ConfigValue::List(inputs))],
        }
    },
    // Applies the shared sandbox to a process without its own.
    apply_shared_settings: |spec, entry, top| {
        let is_process = matches!(spec.transport, TransportSpec::Stdio(_));
        if is_process && find(entry, "sandbox").is_none() {
            let mut found = top.with_table("sandbox", sandbox);
            for mut inner in embedded_tables(top) {
                found = found.or(inner.with_table("sandbox", sandbox));
            }
            let enabled = spec.safety.sandbox.enabled;
            spec.safety.sandbox = SandboxSpec { enabled, ..found.unwrap_or_default() };
        }
        None
    },
    remove_implied: |document, entry, fields| {
        let places = EMBEDDED.iter().map(|path| find_path(document, path)?.field("sandbox"));
        let usual = find(document, "sandbox").or_else(|| places.flatten().next());
        if let (Some(usual), None) = (usual.map(TreeNode::data), find(entry, "sandbox")) {
            fields.retain(|(key, said)| key != "sandbox" || !is_same_value(said, &usual));
        }
    },
    ..DialectFormat::MCP_SERVERS
};

const ID: &str = "vscode";
// VS Code tries Streamable HTTP first.
const KEYS: EntryKeys = EntryKeys {
    transport_keys: &["type"],
    transport_names: &[("stdio", None), ("http", AUTO), ("sse", SSE)],
    written_names: &[("stdio", None), ("http", AUTO), ("http", STREAMABLE), ("sse", SSE)],
    env_file: Some("envFile"),
    ..EntryKeys::COMMON
};
/// Tables with the content of `mcp.json` in files with other content.
const EMBEDDED: [&[&str]; 2] = [&["mcp"], &["customizations", "vscode", "mcp"]];

fn locate_server(document: &[TreeMember], name: &ServerName) -> ServersLocation {
    let places: [&[&str]; 3] =
        [&["servers"], &["mcp", "servers"], &["customizations", "vscode", "mcp", "servers"]];
    let servers = |path: &[&str]| find_path(document, path).and_then(TreeNode::table);
    let has = |path: &&&[&str]| servers(path).is_some_and(|it| find(it, name.as_str()).is_some());
    let found = places.iter().find(has);
    let found = found.or_else(|| places.iter().find(|path| servers(path).is_some()));
    ServersLocation::Map(found.copied().unwrap_or(&["servers"]))
}

/// Begins to read the tables in other files that have the content of `mcp.json`.
fn embedded_tables<'t>(top: &mut TableFields<'t>) -> Vec<TableFields<'t>> {
    top.mark_known(&["mcp", "customizations"]);
    let found = EMBEDDED.iter().filter_map(|path| find_path(top.members, path));
    found.filter_map(|node| Some(top.nested("`mcp`", node.at, node.table()?))).collect()
}

/// Rejects URLs that VS Code accepts and Toolgate does not.
fn check_transport(entry: &mut TableFields<'_>) -> bool {
    let node = entry.node("url");
    let url = node.and_then(TreeNode::text).unwrap_or_default();
    let (scheme, _) = url.split_once(':').unwrap_or_default();
    let scheme = ["unix", "pipe"].into_iter().find(|it| *it == scheme);
    let (Some(node), Some(scheme)) = (node, scheme) else { return true };
    let problem = format!("has a {scheme} URL, which is not supported");
    entry.error_at(node.at, &problem, "use an http:// or https:// URL");
    false
}

fn read_sandbox(entry: &mut TableFields<'_>, spec: &mut ServerSpec) {
    if let TransportSpec::Http(_) = spec.transport {
        server::warn_unused(entry, "url", &["sandbox", "sandboxEnabled"]);
    }
    let mut confined = entry.with_table("sandbox", sandbox).unwrap_or_default();
    confined.enabled = entry.flag("sandboxEnabled");
    if let TransportSpec::Stdio(_) = spec.transport {
        spec.safety.sandbox = confined;
    }
}

/// Reads the sandbox of a process.
fn sandbox(fields: &mut TableFields<'_>) -> SandboxSpec {
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

fn write_sandbox(rest: &mut ServerSpec, writer: &mut EntryWriter<'_>) {
    let TransportSpec::Stdio(_) = rest.transport else { return };
    let profile = rest.safety.sandbox.profile.take();
    let left = SandboxSpec { profile, ..SandboxSpec::default() };
    let said = std::mem::replace(&mut rest.safety.sandbox, left);
    if let Some(enabled) = said.enabled {
        writer.flag("sandboxEnabled", enabled);
    }
    writer.with_table("sandbox", |sandbox| {
        sandbox.with_table("filesystem", |inner| {
            let lists = [
                ("allowWrite", said.allow_write),
                ("denyRead", said.deny_read),
                ("denyWrite", said.deny_write),
            ];
            for (key, paths) in lists {
                let paths = paths.iter().filter_map(|path| inner.translate("sandbox", path));
                let paths: Vec<_> = paths.collect();
                inner.texts(key, &paths);
            }
        });
        sandbox.with_table("network", |inner| {
            inner.texts("allowedDomains", &said.allowed_domains);
            inner.texts("deniedDomains", &said.denied_domains);
        });
    });
}
