//! Zed's `settings.json`.
//!
//! Strings contain no variables. A `timeout` limits one request, so it limits the whole call.
//! `context_server_timeout` applies to every server without its own.

mod permissions;

use toolgate_model::{ServerSpec, ServerTimeouts, StdioSpec, TransportSpec};

use crate::FileSettings;
use crate::common::TableFields;
use crate::common::entry::{self, EntryField, TimeoutField, TimeoutScope};
use crate::common::fields::TimeUnit;
use crate::common::oauth::OAuthField;
use crate::common::server::{self, EntryKeys};
use crate::common::tree::{TreeNode, find};
use crate::dialect_format::{DialectFormat, EnabledField, ServersLocation};

/// The dialect of Zed.
pub(crate) const FORMAT: DialectFormat = DialectFormat {
    name: "zed",
    paths: &[".zed/settings.json", "zed/settings.json"],
    extras: "zed",
    servers: ServersLocation::Map(&["context_servers"]),
    servers_only: false,
    enabled: Some(EnabledField::ENABLED),
    fields: &[
        EntryField::Other(read_transport, |rest, writer| {
            server::write_transport(&mut rest.transport, &KEYS, writer);
        }),
        EntryField::OAuth(
            "oauth",
            &[("client_id", OAuthField::CLIENT_ID), ("client_secret", OAuthField::ClientSecret)],
        ),
        EntryField::Enabled,
        EntryField::Timeout(TimeoutField::new("timeout", TimeUnit::Seconds, TimeoutScope::Calls)),
        EntryField::Kept(&KEPT),
    ],
    read: |format, name, fields| match is_extension(fields) {
        true => None,
        false => entry::read(format, name, fields),
    },
    read_settings: |top| {
        top.time(USUAL_TIMEOUT, TimeUnit::Seconds);
        FileSettings { permissions: permissions::read(top), ..FileSettings::default() }
    },
    write_settings: permissions::write,
    apply_shared_settings: |spec, entry, top| {
        if let Some(limit) = top.time(USUAL_TIMEOUT, TimeUnit::Seconds)
            && find(entry, "timeout").is_none()
        {
            spec.timeouts = ServerTimeouts::calls(limit);
        }
        None
    },
    remove_implied: |document, entry, fields| {
        let Some(usual) = find(document, USUAL_TIMEOUT).map(TreeNode::data) else { return };
        if find(entry, "timeout").is_none() {
            fields.retain(|(key, said)| key != "timeout" || *said != usual);
        }
    },
    translate_rule: |_, rule, _| permissions::translate_rule(&rule.subject),
    ..DialectFormat::MCP_SERVERS
};

const KEYS: EntryKeys = EntryKeys::UNTYPED;
/// The limit for every server without its own.
const USUAL_TIMEOUT: &str = "context_server_timeout";
/// Fields that only Zed uses. Older versions record the source of a server, and allow settings
/// beside a command.
const KEPT: [&str; 3] = ["remote", "source", "settings"];

/// Returns true if an entry only configures a server that an extension provides.
fn is_extension(entry: &mut TableFields<'_>) -> bool {
    let starts = entry.has("command") || entry.has("url");
    let (has_settings, has_enabled) = (entry.has("settings"), entry.has("enabled"));
    if starts || !has_settings && !has_enabled {
        return false;
    }
    entry.mark_known(&KEPT);
    let key = if has_settings { "settings" } else { "enabled" };
    let problem = "configures a server that a Zed extension provides";
    entry.warn(key, problem, "only Zed can start it");
    true
}

/// Reads the process to start or the endpoint to connect to. Older versions have the process in a
/// table.
fn read_transport(entry: &mut TableFields<'_>, spec: &mut ServerSpec) {
    let is_older = entry.node("command").is_some_and(|node| node.table().is_some());
    let transport = match is_older {
        true => {
            entry.mark_known(&["args", "env", "url", "headers"]);
            if let Some(node) = entry.node("url") {
                let hint = "keep `command` to start a process, or `url` to connect to an endpoint";
                entry.error_at(node.at, "has both `command` and `url`", hint);
            }
            entry.with_table("command", read_command_table).map(TransportSpec::Stdio)
        }
        false => server::read_transport(entry, &KEYS),
    };
    spec.transport = transport.unwrap_or(TransportSpec::BuiltIn);
}

fn read_command_table(inner: &mut TableFields<'_>) -> StdioSpec {
    let path = inner.template("path").unwrap_or_default();
    let mut stdio = server::read_stdio(inner, path, &KEYS);
    stdio.args = inner.templates("args").unwrap_or_default();
    server::check_stdio(inner, &stdio, "path");
    stdio
}
