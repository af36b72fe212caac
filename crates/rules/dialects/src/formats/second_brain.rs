//! SecondBrain's YAML: `mcp_servers` at the top level or under `control_plane`, with everything
//! that must be reviewed before a process is started.
//!
//! An enabled process that lacks a review is declared but blocked, with a message about what to
//! add. Other servers are not affected. Signatures and sandbox profiles are not verified here.

mod command_check;
mod review;

use std::path::PathBuf;

use toolgate_model::{
    ConfigValue, HttpTransportKind, SafetySpec, SandboxSpec, ServerName, ServerSpec, TransportSpec,
};

use super::write_helpers;
use crate::common::server::{self, EntryKeys};
use crate::common::tree::{TreeMember, TreeNode, TreeValue};
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{
    DialectFormat, EnabledField, ParsedEntry, ServerEntries, ServerGroup, ServersLocation,
};
use crate::losses::ConversionLosses;
use crate::{FileSettings, Syntax, VariableSyntax};

/// The dialect of SecondBrain.
pub(crate) struct SecondBrain;

const ID: &str = "secondbrain";
const KEYS: EntryKeys = EntryKeys {
    transport_keys: &["transport"],
    transport_names: &[
        ("stdio", None),
        ("streamable_http", Some(HttpTransportKind::Streamable)),
        ("streamable-http", Some(HttpTransportKind::Streamable)),
        ("http", Some(HttpTransportKind::Auto)),
        ("sse", Some(HttpTransportKind::Sse)),
    ],
    ..EntryKeys::COMMON
};
/// The table that may contain the shared lists, besides the top level.
const PLANE: &str = "control_plane";
/// The location of servers besides the top level.
const IN_PLANE: ServersLocation = ServersLocation::List(&[PLANE, LIST]);
const LIST: &str = "mcp_servers";
const COMMANDS: &str = "mcp_stdio_allowed_commands";
const OWN_COMMANDS: &str = "stdio_allowed_commands";

impl DialectFormat for SecondBrain {
    fn syntax(&self) -> Syntax {
        Syntax::Yaml
    }

    fn servers_location(&self) -> ServersLocation {
        ServersLocation::List(&[LIST])
    }

    /// Returns the location of the server, else that of the other servers.
    fn locate_server(&self, document: &[TreeMember], name: &ServerName) -> ServersLocation {
        let [top, plane] =
            [servers_in(document), member(document, PLANE).and_then(servers_in_node)];
        let has = |items: &[TreeNode]| items.iter().any(|item| is_named(item, name));
        match (top, plane) {
            (Some(top), Some(plane)) if has(plane) && !has(top) => IN_PLANE,
            (None, Some(_)) => IN_PLANE,
            _ => self.servers_location(),
        }
    }

    fn variable_syntax(&self) -> VariableSyntax {
        VariableSyntax::Literal
    }

    fn is_servers_only(&self) -> bool {
        false
    }

    fn enabled_field(&self) -> Option<EnabledField> {
        Some(EnabledField { field: "enabled", value_when_enabled: true, opposite_field: None })
    }

    fn server_groups<'t>(&self, top: &mut TableFields<'t, '_, '_>) -> Vec<ServerGroup<'t>> {
        let nested = member(top.members(), PLANE).and_then(servers_in_node).unwrap_or_default();
        let items = match top.servers(self.servers_location()) {
            Some(ServerEntries::List(items)) => items,
            _ => &[],
        };
        // Both locations form one group, so that duplicate names are noticed.
        vec![ServerGroup {
            servers: ServerEntries::Selected(items.iter().chain(nested).collect()),
            only_in: None,
        }]
    }

    fn read_settings(&self, top: &mut TableFields<'_, '_, '_>) -> FileSettings {
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
    }

    fn read(&self, name: ServerName, entry: &mut TableFields<'_, '_, '_>) -> Option<ParsedEntry> {
        let transport = transport(entry);
        let allowed = entry.texts("stdio_allowed_commands").unwrap_or_default();
        let profile = entry.text("sandbox_profile").map(str::to_owned);
        let mut safety = SafetySpec {
            manifest_digest: entry.text("manifest_digest").map(str::to_owned),
            manifest_signature: entry.text("manifest_signature").map(str::to_owned),
            client_consent: entry.text("client_consent").map(str::to_owned),
            ..SafetySpec::default()
        };
        let enabled = entry.flag("enabled").unwrap_or(true);
        match &transport {
            Some(TransportSpec::Http(_)) => {
                server::warn_unused(entry, "url", &["stdio_allowed_commands", "sandbox_profile"]);
            }
            _ => {
                safety.allowed_commands = allowed;
                safety.sandbox = SandboxSpec { profile, ..SandboxSpec::default() };
            }
        }
        let spec = ServerSpec::new(name, transport?);
        Some(ServerSpec { enabled, safety, ..spec }.into())
    }

    /// Adds the commands reviewed for every server to each server's list.
    fn apply_shared_settings(
        &self,
        spec: &mut ServerSpec,
        _entry: &[TreeMember],
        top: &mut TableFields<'_, '_, '_>,
    ) -> Option<(String, String)> {
        if let TransportSpec::Stdio(_) = spec.transport {
            let own = &mut spec.safety.allowed_commands;
            for command in commands(top) {
                if !own.contains(&command) {
                    own.push(command);
                }
            }
        }
        None
    }

    fn block_reason(&self, spec: &ServerSpec, _settings: &FileSettings) -> Option<String> {
        match &spec.transport {
            TransportSpec::Stdio(stdio) if spec.enabled => {
                review::missing(&stdio.command, &spec.safety)
            }
            _ => None,
        }
    }

    fn write(&self, spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
        let mut rest = spec.clone();
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => {
                writer.text("transport", Some("stdio"));
                write_helpers::stdio(stdio, &KEYS, writer);
            }
            TransportSpec::Http(http) => {
                let word = match std::mem::take(&mut http.kind) {
                    HttpTransportKind::Auto => "http",
                    HttpTransportKind::Streamable => "streamable_http",
                    HttpTransportKind::Sse => "sse",
                };
                writer.text("transport", Some(word));
                write_helpers::http(http, &KEYS, writer);
            }
            TransportSpec::BuiltIn => {
                return write_helpers::report_undeclarable(writer, "it is built in");
            }
        }
        let is_process = matches!(rest.transport, TransportSpec::Stdio(_));
        write_safety(&mut rest.safety, is_process, writer);
        writer.flag("enabled", std::mem::replace(&mut rest.enabled, true));
        write_helpers::report_losses(&rest, ID, writer);
    }

    /// Removes the commands reviewed for every server from an entry.
    fn remove_implied(
        &self,
        document: &[TreeMember],
        entry: &[TreeMember],
        fields: &mut Vec<(String, ConfigValue)>,
    ) {
        let texts = |members: &[TreeMember], key| member(members, key).map(TreeNode::data);
        let for_all = match member(document, PLANE).map(|plane| &plane.value) {
            Some(TreeValue::Table(plane)) => texts(plane, COMMANDS),
            _ => None,
        };
        let (Some(ConfigValue::List(for_all)), own) = (for_all, texts(entry, OWN_COMMANDS)) else {
            return;
        };
        let is_own = |command: &ConfigValue| matches!(&own, Some(ConfigValue::List(own)) if own.contains(command));
        for (_, said) in fields.iter_mut().filter(|(key, _)| key == OWN_COMMANDS) {
            if let ConfigValue::List(commands) = said {
                commands.retain(|command| is_own(command) || !for_all.contains(command));
            }
        }
        let is_empty =
            |said: &ConfigValue| matches!(said, ConfigValue::List(commands) if commands.is_empty());
        fields.retain(|(key, said)| key != OWN_COMMANDS || own.is_some() || !is_empty(said));
    }

    fn write_settings(
        &self,
        settings: &FileSettings,
        losses: &mut ConversionLosses,
    ) -> Vec<(&'static [&'static str], ConfigValue)> {
        losses.add_settings(&FileSettings { roots: None, ..settings.clone() });
        let roots = settings.roots.as_ref().map(|roots| {
            let roots = ConfigValue::texts(roots.iter().map(|root| root.to_string_lossy()));
            (["allowed_file_roots"].as_slice(), roots)
        });
        roots.into_iter().collect()
    }
}

fn member<'t>(members: &'t [TreeMember], key: &str) -> Option<&'t TreeNode> {
    members.iter().find(|member| member.key == key).map(|member| &member.node)
}

/// Returns the servers of a table.
fn servers_in(members: &[TreeMember]) -> Option<&[TreeNode]> {
    match &member(members, LIST)?.value {
        TreeValue::List(items) => Some(items),
        _ => None,
    }
}

fn servers_in_node(node: &TreeNode) -> Option<&[TreeNode]> {
    match &node.value {
        TreeValue::Table(members) => servers_in(members),
        _ => None,
    }
}

fn is_named(item: &TreeNode, name: &ServerName) -> bool {
    let TreeValue::Table(members) = &item.value else { return false };
    member(members, "name").is_some_and(|it| it.value == TreeValue::Text(name.to_string()))
}

/// Reads the table that may contain settings of the top level. It has other fields too, so unknown
/// fields are not reported.
fn with_control_plane<'t>(
    top: &mut TableFields<'t, '_, '_>,
    read: impl FnOnce(&mut TableFields<'t, '_, '_>),
) {
    top.with_table(PLANE, |plane| {
        read(plane);
        plane.allow_unknown();
    });
}

/// Returns the commands reviewed for every server.
fn commands(top: &mut TableFields<'_, '_, '_>) -> Vec<String> {
    let mut commands = Vec::new();
    with_control_plane(top, |plane| commands = plane.texts(COMMANDS).unwrap_or_default());
    commands
}

/// Reads the process to start or the endpoint to connect to. A list as `command` has its own error
/// message, because the user meant the arguments too.
fn transport(entry: &mut TableFields<'_, '_, '_>) -> Option<TransportSpec> {
    let Some(node) = entry.node(KEYS.command).filter(|it| matches!(it.value, TreeValue::List(_)))
    else {
        return server::read_transport(entry, &KEYS);
    };
    let hint = "put only the program into `command`, and its arguments into `args`";
    entry.error_at(node.at, "has a list as `command`", hint);
    entry.mark_known(&["transport", KEYS.args, KEYS.env, "cwd", KEYS.url, KEYS.headers]);
    None
}

fn write_safety(safety: &mut SafetySpec, is_process: bool, writer: &mut EntryWriter<'_>) {
    if is_process {
        writer.texts("stdio_allowed_commands", &std::mem::take(&mut safety.allowed_commands));
    }
    writer.text("manifest_digest", safety.manifest_digest.take().as_deref());
    writer.text("manifest_signature", safety.manifest_signature.take().as_deref());
    if is_process {
        writer.text("sandbox_profile", safety.sandbox.profile.take().as_deref());
    }
    writer.text("client_consent", safety.client_consent.take().as_deref());
}
