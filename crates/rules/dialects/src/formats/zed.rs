//! Zed's `settings.json`.
//!
//! Strings contain no variables. A `timeout` limits one request, so it limits the whole call.
//! `context_server_timeout` applies to every server without its own.

mod permissions;

use std::time::Duration;

use toolgate_model::{
    ConfigValue, Effect, HttpTransportKind, RuleSpec, ServerName, ServerSpec, ServerTimeouts,
    StdioSpec, TransportSpec,
};

use super::write_helpers::{self, TimeoutScope};
use crate::common::fields::TimeUnit;
use crate::common::oauth::{self, OAuthField};
use crate::common::server::{self, EntryKeys};
use crate::common::tree::{TreeMember, TreeNode, TreeValue};
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{
    DialectFormat, EnabledField, ParsedEntry, RuleTranslation, ServersLocation,
};
use crate::losses::ConversionLosses;
use crate::{FileSettings, Permissions, Syntax, VariableSyntax};

/// The dialect of Zed.
pub(crate) struct Zed;

const ID: &str = "zed";
const KEYS: EntryKeys =
    EntryKeys { transport_keys: &[], transport_names: &[], cwd: None, ..EntryKeys::COMMON };
/// The limit for every server without its own.
const USUAL_TIMEOUT: &str = "context_server_timeout";
/// Fields that only Zed uses. Older versions record the source of a server, and allow settings
/// beside a command.
const KEPT: [&str; 3] = ["remote", "source", "settings"];
const OAUTH: [(&str, OAuthField); 2] =
    [("client_id", OAuthField::ClientId), ("client_secret", OAuthField::ClientSecret)];

impl DialectFormat for Zed {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn servers_location(&self) -> ServersLocation {
        ServersLocation::Map(&["context_servers"])
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

    fn read_settings(&self, top: &mut TableFields<'_, '_, '_>) -> FileSettings {
        top.time(USUAL_TIMEOUT, TimeUnit::Seconds);
        FileSettings { permissions: permissions::read(top), ..FileSettings::default() }
    }

    fn read(&self, name: ServerName, entry: &mut TableFields<'_, '_, '_>) -> Option<ParsedEntry> {
        if is_extension(entry) {
            return None;
        }
        let mut transport = transport(entry);
        match &mut transport {
            Some(TransportSpec::Http(http)) => {
                entry.with_table("oauth", |inner| oauth::read(inner, &OAUTH, &mut http.auth.oauth));
            }
            Some(_) => server::warn_unused(entry, "command", &["oauth"]),
            None => entry.mark_known(&["oauth"]),
        }
        let enabled = entry.flag("enabled").unwrap_or(true);
        let timeouts =
            entry.time("timeout", TimeUnit::Seconds).map(ServerTimeouts::calls).unwrap_or_default();
        let extras = entry.read_extras(&KEPT).map(|kept| (ID.to_owned(), kept));
        let mut spec = ServerSpec::new(name, transport?);
        spec.extras.extend(extras);
        Some(ServerSpec { enabled, timeouts, ..spec }.into())
    }

    fn apply_shared_settings(
        &self,
        spec: &mut ServerSpec,
        entry: &[TreeMember],
        top: &mut TableFields<'_, '_, '_>,
    ) -> Option<(String, String)> {
        let has_own = entry.iter().any(|member| member.key == "timeout");
        match top.time(USUAL_TIMEOUT, TimeUnit::Seconds) {
            Some(limit) if !has_own => spec.timeouts = ServerTimeouts::calls(limit),
            _ => {}
        }
        None
    }

    fn write(&self, spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
        let mut rest = spec.clone();
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => write_helpers::stdio(stdio, &KEYS, writer),
            TransportSpec::Http(http) => {
                write_helpers::http(http, &KEYS, writer);
                // Zed supports only Streamable HTTP, so the transport is not written.
                if http.kind == HttpTransportKind::Streamable {
                    http.kind = HttpTransportKind::Auto;
                }
                let oauth = oauth::write(writer, &OAUTH, &mut http.auth.oauth);
                if !oauth.is_empty() {
                    writer.data("oauth", ConfigValue::Table(oauth));
                }
            }
            TransportSpec::BuiltIn => {
                return write_helpers::report_undeclarable(writer, "it is built in");
            }
        }
        if let Some(limit) =
            write_helpers::timeout(&mut rest.timeouts, TimeoutScope::Calls, Duration::ZERO)
        {
            writer.seconds("timeout", limit);
        }
        if !std::mem::replace(&mut rest.enabled, true) {
            writer.flag("enabled", false);
        }
        write_helpers::report_losses(&rest, ID, writer);
    }

    fn remove_implied(
        &self,
        document: &[TreeMember],
        entry: &[TreeMember],
        fields: &mut Vec<(String, ConfigValue)>,
    ) {
        let usual = document.iter().find(|member| member.key == USUAL_TIMEOUT);
        let Some(usual) = usual.map(|member| member.node.data()) else { return };
        if !entry.iter().any(|member| member.key == "timeout") {
            fields.retain(|(key, said)| key != "timeout" || *said != usual);
        }
    }

    fn write_settings(
        &self,
        settings: &FileSettings,
        losses: &mut ConversionLosses,
    ) -> Vec<(&'static [&'static str], ConfigValue)> {
        let permissions = Default::default();
        losses.add_settings(&FileSettings { permissions, ..settings.clone() });
        permissions::write(&settings.permissions, losses)
    }

    fn translate_rule(
        &self,
        _effect: Effect,
        rule: &RuleSpec,
        _said: &Permissions,
    ) -> RuleTranslation {
        permissions::translate_rule(&rule.subject)
    }
}

/// Returns true if an entry only configures a server that an extension provides.
fn is_extension(entry: &mut TableFields<'_, '_, '_>) -> bool {
    let mut has = |key: &'static str| entry.node(key).is_some();
    let starts = has("command") || has("url");
    let configures = [has("settings"), has("enabled")].contains(&true);
    if starts || !configures {
        return false;
    }
    entry.mark_known(&KEPT);
    let key = if entry.node("settings").is_some() { "settings" } else { "enabled" };
    let problem = "configures a server that a Zed extension provides";
    entry.warn(key, problem, "only Zed can start it");
    true
}

/// Reads the process to start or the endpoint to connect to. Older versions have the process in a
/// table.
fn transport(entry: &mut TableFields<'_, '_, '_>) -> Option<TransportSpec> {
    match entry.node("command") {
        Some(TreeNode { value: TreeValue::Table(_), .. }) => {
            entry.mark_known(&["args", "env", "url", "headers"]);
            if let Some(node) = entry.node("url") {
                let hint = "keep `command` to start a process, or `url` to connect to an endpoint";
                entry.error_at(node.at, "has both `command` and `url`", hint);
            }
            entry.with_table("command", read_command_table).map(TransportSpec::Stdio)
        }
        _ => server::read_transport(entry, &KEYS),
    }
}

fn read_command_table(inner: &mut TableFields<'_, '_, '_>) -> StdioSpec {
    let path = inner.template("path").unwrap_or_default();
    let mut stdio = server::read_stdio(inner, path, &KEYS);
    stdio.args = inner.templates("args").unwrap_or_default();
    server::check_stdio(inner, &stdio, "path");
    stdio
}
