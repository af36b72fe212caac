//! `claude_desktop_config.json`: processes to start, besides other settings of the app.
//!
//! This file has no endpoints; the app uses connectors for them.

use toolgate_model::{ServerName, ServerSpec, TransportSpec};

use super::write_helpers;
use crate::common::server::{self, EntryKeys};
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{DialectFormat, ParsedEntry, ServersLocation};
use crate::{Syntax, VariableSyntax};

/// The dialect of Claude Desktop.
pub(crate) struct ClaudeDesktop;

const ID: &str = "claude-desktop";
const KEYS: EntryKeys = EntryKeys { transport_keys: &["type"], cwd: None, ..EntryKeys::COMMON };

impl DialectFormat for ClaudeDesktop {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn servers_location(&self) -> ServersLocation {
        ServersLocation::Map(&["mcpServers"])
    }

    fn variable_syntax(&self) -> VariableSyntax {
        VariableSyntax::Literal
    }

    fn is_servers_only(&self) -> bool {
        false
    }

    fn read(&self, name: ServerName, entry: &mut TableFields<'_, '_, '_>) -> Option<ParsedEntry> {
        let transport = server::read_transport(entry, &KEYS)?;
        if let TransportSpec::Http(_) = transport {
            let hint = "declare the endpoint in .mcp.json or toolgate.toml";
            entry.fail("has a `url`, but Claude Desktop only starts processes", hint);
        }
        Some(ServerSpec::new(name, transport).into())
    }

    fn write(&self, spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
        let mut rest = spec.clone();
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => write_helpers::stdio(stdio, &KEYS, writer),
            TransportSpec::Http(_) => {
                return write_helpers::report_undeclarable(
                    writer,
                    "Claude Desktop only starts processes",
                );
            }
            TransportSpec::BuiltIn => {
                return write_helpers::report_undeclarable(writer, "it is built in");
            }
        }
        write_helpers::report_losses(&rest, ID, writer);
    }
}
