//! SecondBrain's YAML: `mcp_servers` at the top level or under `control_plane`, with everything
//! that must be reviewed before a process is started.
//!
//! An enabled process that lacks a review is declared but blocked, with a message about what to
//! add. Other servers are not affected. Signatures and sandbox profiles are not verified here.

mod command_check;
mod review;

use std::path::PathBuf;

use toolgate_model::{ConfigValue, ServerName, ServerSpec, TransportSpec};

use crate::common::entry::EntryField;
use crate::common::server::{self, AUTO, EntryKeys, SSE, STREAMABLE};
use crate::common::tree::{TreeMember, TreeNode, find, find_path};
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{DialectFormat, EnabledField, ServerEntries, ServersLocation};
use crate::{FileSettings, Syntax};

/// The dialect of SecondBrain.
pub(crate) const FORMAT: DialectFormat = DialectFormat {
    name: "secondbrain",
    paths: &["secondbrain.yaml", "secondbrain.yml"],
    extras: "secondbrain",
    syntax: Syntax::Yaml,
    servers: ServersLocation::List(&[LIST]),
    servers_only: false,
    enabled: Some(EnabledField { is_required: true, ..EnabledField::ENABLED }),
    keys: KEYS,
    fields: &[
        EntryField::CheckedTransport(check_transport),
        EntryField::Other(read_confinement, write_confinement),
        EntryField::Text("manifest_digest", |spec| &mut spec.safety.manifest_digest),
        EntryField::Text("manifest_signature", |spec| &mut spec.safety.manifest_signature),
        EntryField::Text("client_consent", |spec| &mut spec.safety.client_consent),
        EntryField::Enabled,
    ],
    locate_server,
    // Both locations form one group, so that duplicate names are noticed.
    server_groups: Some(|top| {
        let nested = find_path(top.members, &[PLANE, LIST]).and_then(TreeNode::list);
        let mut items = match top.servers(FORMAT.servers) {
            Some(ServerEntries::List(items)) => items,
            _ => Vec::new(),
        };
        items.extend(nested.unwrap_or_default());
        vec![ServerEntries::List(items).into()]
    }),
    read_settings: |top| {
        let mut roots = top.texts("allowed_file_roots");
        with_control_plane(top, |plane| {
            if let Some(more) = plane.texts("allowed_file_roots") {
                roots.get_or_insert_default().extend(more);
            }
            // Both are read elsewhere; errors are reported here, once.
            let _ = plane.list(LIST);
            let _ = plane.texts(COMMANDS);
        });
        let roots = roots.map(|roots| roots.into_iter().map(PathBuf::from).collect());
        FileSettings { roots, ..FileSettings::default() }
    },
    write_settings: |settings, losses| {
        losses.add_settings(&FileSettings { roots: None, ..settings.clone() });
        let roots = settings.roots.as_ref().map(|roots| {
            let roots = ConfigValue::texts(roots.iter().map(|root| root.to_string_lossy()));
            (["allowed_file_roots"].as_slice(), roots)
        });
        roots.into_iter().collect()
    },
    // Adds the commands reviewed for every server to each server's list.
    apply_shared_settings: |spec, _, top| {
        if let TransportSpec::Stdio(_) = spec.transport {
            let own = &mut spec.safety.allowed_commands;
            with_control_plane(top, |plane| {
                for command in plane.texts(COMMANDS).unwrap_or_default() {
                    if !own.contains(&command) {
                        own.push(command);
                    }
                }
            });
        }
        None
    },
    remove_implied,
    block_reason: |spec| match &spec.transport {
        TransportSpec::Stdio(stdio) if spec.enabled => {
            review::missing(&stdio.command, &spec.safety)
        }
        _ => None,
    },
    ..DialectFormat::MCP_SERVERS
};

const KEYS: EntryKeys = EntryKeys {
    transport_keys: &["transport"],
    transport_names: &[
        ("stdio", None),
        ("streamable_http", STREAMABLE),
        ("streamable-http", STREAMABLE),
        ("http", AUTO),
        ("sse", SSE),
    ],
    written_names: &[
        ("stdio", None),
        ("streamable_http", STREAMABLE),
        ("http", AUTO),
        ("sse", SSE),
    ],
    ..EntryKeys::COMMON
};
/// The table that may contain the shared lists, besides the top level.
const PLANE: &str = "control_plane";
const LIST: &str = "mcp_servers";
const COMMANDS: &str = "mcp_stdio_allowed_commands";
const OWN_COMMANDS: &str = "stdio_allowed_commands";

/// Returns the location of the server, else that of the other servers.
fn locate_server(document: &[TreeMember], name: &ServerName) -> Option<ServersLocation> {
    let top = find(document, LIST).and_then(TreeNode::list);
    let plane = find_path(document, &[PLANE, LIST]).and_then(TreeNode::list)?;
    let has = |items: &[TreeNode]| items.iter().any(|item| item.is_named(name.as_str()));
    let is_in_plane = top.is_none_or(|top| has(plane) && !has(top));
    is_in_plane.then_some(ServersLocation::List(&[PLANE, LIST]))
}

/// Removes the commands reviewed for every server from an entry.
fn remove_implied(
    document: &[TreeMember],
    entry: &[TreeMember],
    fields: &mut Vec<(String, ConfigValue)>,
) {
    let for_all = find_path(document, &[PLANE, COMMANDS]).map(TreeNode::data);
    let own = find(entry, OWN_COMMANDS).map(TreeNode::data);
    let Some(ConfigValue::List(for_all)) = for_all else { return };
    let is_own = |command: &ConfigValue| matches!(&own, Some(ConfigValue::List(own)) if own.contains(command));
    fields.retain_mut(|(key, said)| match said {
        ConfigValue::List(commands) if key == OWN_COMMANDS => {
            commands.retain(|command| is_own(command) || !for_all.contains(command));
            own.is_some() || !commands.is_empty()
        }
        _ => true,
    });
}

/// Reads the table that may contain settings of the top level. It has other fields too, so unknown
/// fields are not reported.
fn with_control_plane<'t>(top: &mut TableFields<'t>, read: impl FnOnce(&mut TableFields<'t>)) {
    top.with_table(PLANE, |plane| {
        read(plane);
        plane.allow_unknown();
    });
}

/// Rejects a list as `command` with its own error message, because the user meant the arguments too.
fn check_transport(entry: &mut TableFields<'_>) -> bool {
    let Some(node) = entry.node(KEYS.command).filter(|node| node.list().is_some()) else {
        return true;
    };
    let hint = "put only the program into `command`, and its arguments into `args`";
    entry.error_at(node.at, "has a list as `command`", hint);
    false
}

/// Reads what confines a process.
fn read_confinement(entry: &mut TableFields<'_>, spec: &mut ServerSpec) {
    let allowed = entry.texts(OWN_COMMANDS).unwrap_or_default();
    let profile = entry.owned_text("sandbox_profile");
    match &spec.transport {
        TransportSpec::Http(_) => {
            server::warn_unused(entry, "url", &[OWN_COMMANDS, "sandbox_profile"]);
        }
        _ => {
            spec.safety.allowed_commands = allowed;
            spec.safety.sandbox.profile = profile;
        }
    }
}

fn write_confinement(rest: &mut ServerSpec, writer: &mut EntryWriter<'_>) {
    if let TransportSpec::Stdio(_) = rest.transport {
        writer.texts(OWN_COMMANDS, &std::mem::take(&mut rest.safety.allowed_commands));
        writer.text("sandbox_profile", rest.safety.sandbox.profile.take().as_deref());
    }
}
