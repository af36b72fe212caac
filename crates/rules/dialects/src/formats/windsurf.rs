//! Windsurf's `mcp_config.json`.
//!
//! An endpoint is `serverUrl` or `url`, and Windsurf detects its HTTP transport.

use toolgate_model::{ServerName, ServerSpec, TransportSpec};

use super::write_helpers;
use crate::common::server::{self, EntryKeys};
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{DialectFormat, EnabledField, ParsedEntry, ServersLocation};
use crate::{Syntax, VariableSyntax};

/// The dialect of Windsurf.
pub(crate) struct Windsurf;

const ID: &str = "windsurf";
const KEYS: EntryKeys = EntryKeys {
    transport_keys: &[],
    transport_names: &[],
    cwd: None,
    url: "serverUrl",
    ..EntryKeys::COMMON
};

impl DialectFormat for Windsurf {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn servers_location(&self) -> ServersLocation {
        ServersLocation::Map(&["mcpServers"])
    }

    fn variable_syntax(&self) -> VariableSyntax {
        VariableSyntax::Windsurf
    }

    fn is_servers_only(&self) -> bool {
        true
    }

    fn enabled_field(&self) -> Option<EnabledField> {
        Some(EnabledField { field: "disabled", value_when_enabled: false, opposite_field: None })
    }

    fn read(&self, name: ServerName, entry: &mut TableFields<'_, '_, '_>) -> Option<ParsedEntry> {
        let keys = keys(entry);
        let transport = server::read_transport(entry, &keys);
        let enabled = !entry.flag("disabled").unwrap_or(false);
        let exclude = entry.texts("disabledTools").unwrap_or_default();
        let mut spec = ServerSpec::new(name, transport?);
        spec.selection.exclude = exclude;
        Some(ServerSpec { enabled, ..spec }.into())
    }

    fn write(&self, spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
        let mut rest = spec.clone();
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => write_helpers::stdio(stdio, &KEYS, writer),
            TransportSpec::Http(http) => write_helpers::http(http, &KEYS, writer),
            TransportSpec::BuiltIn => {
                return write_helpers::report_undeclarable(writer, "it is built in");
            }
        }
        if !std::mem::replace(&mut rest.enabled, true) {
            writer.flag("disabled", true);
        }
        let exclude = std::mem::take(&mut rest.selection.exclude);
        let hidden = write_helpers::exact_names(writer, "exclude", &exclude);
        writer.texts("disabledTools", &hidden);
        write_helpers::report_losses(&rest, ID, writer);
    }
}

/// Returns the keys with the endpoint field that the entry uses.
fn keys(entry: &mut TableFields<'_, '_, '_>) -> EntryKeys {
    let (server_url, url) = (entry.node("serverUrl").is_some(), entry.node("url").is_some());
    if server_url && url {
        entry.fail("has both `serverUrl` and `url`", "keep `serverUrl`");
    }
    match server_url || !url {
        true => KEYS,
        false => EntryKeys { url: "url", ..KEYS },
    }
}
