//! Copilot CLI's `mcp-config.json`, and a repository's `.github/mcp.json`.

use toolgate_model::{
    ConfigValue, HttpSpec, HttpTransportKind, ServerName, ServerSpec, ToolSelection, ToolSpec,
    TransportSpec,
};

use super::write_helpers;
use crate::common::server::{self, EntryKeys};
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{DialectFormat, ParsedEntry, ServersLocation};
use crate::{Syntax, VariableSyntax};

/// The dialect of Copilot CLI.
pub(crate) struct Copilot;

const ID: &str = "copilot";
const KEYS: EntryKeys = EntryKeys {
    transport_keys: &["type"],
    transport_names: &[
        ("local", None),
        ("stdio", None),
        ("http", Some(HttpTransportKind::Auto)),
        ("sse", Some(HttpTransportKind::Sse)),
    ],
    ..EntryKeys::COMMON
};
/// Fields whose documentation is too vague to use them.
const KEPT: [&str; 1] = ["timeout"];
/// The word for all tools.
const ALL: &str = "*";

impl DialectFormat for Copilot {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn servers_location(&self) -> ServersLocation {
        ServersLocation::Map(&["mcpServers"])
    }

    fn variable_syntax(&self) -> VariableSyntax {
        VariableSyntax::Braces
    }

    fn is_servers_only(&self) -> bool {
        true
    }

    fn read(&self, name: ServerName, entry: &mut TableFields<'_, '_, '_>) -> Option<ParsedEntry> {
        let transport = server::read_transport(entry, &KEYS);
        let tools = entry.texts("tools");
        let extras = entry.read_extras(&KEPT).map(|kept| (ID.to_owned(), kept));
        let mut spec = ServerSpec::new(name, transport?);
        spec.extras.extend(extras);
        match tools {
            // An empty list shows no tools.
            Some(tools) if tools.is_empty() => spec.selection.listed_only = true,
            Some(tools) if !tools.iter().any(|tool| tool == ALL) => spec.selection.include = tools,
            _ => {}
        }
        Some(spec.into())
    }

    fn write(&self, spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
        let mut rest = spec.clone();
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => {
                writer.text("type", Some("local"));
                write_helpers::stdio(stdio, &KEYS, writer);
            }
            TransportSpec::Http(http) => write_http(http, writer),
            TransportSpec::BuiltIn => {
                return write_helpers::report_undeclarable(writer, "it is built in");
            }
        }
        let tools = tools(&mut rest, writer);
        writer.data("tools", ConfigValue::texts(tools));
        write_helpers::report_losses(&rest, ID, writer);
    }
}

fn write_http(http: &mut HttpSpec, writer: &mut EntryWriter<'_>) {
    let word = match http.kind {
        HttpTransportKind::Sse => "sse",
        HttpTransportKind::Auto | HttpTransportKind::Streamable => "http",
    };
    if http.kind == HttpTransportKind::Sse {
        http.kind = HttpTransportKind::Auto;
    }
    writer.text("type", Some(word));
    write_helpers::http(http, &KEYS, writer);
}

/// Returns the list of tools, which Copilot requires. A list of names replaces all other rules
/// about visible tools.
fn tools(rest: &mut ServerSpec, writer: &mut EntryWriter<'_>) -> Vec<String> {
    let ToolSelection { include, listed_only, tools, .. } = &rest.selection;
    if !listed_only && include.is_empty() {
        return vec![ALL.to_owned()];
    }
    let named: Vec<_> = match listed_only {
        true => tools.keys().cloned().collect(),
        false => write_helpers::exact_names(writer, "include", include),
    };
    let is_whole = *listed_only || named.len() == include.len();
    let seen = named.into_iter().filter(|name| rest.selection.is_visible(name)).collect();
    let ToolSelection { include, exclude, listed_only, tools, .. } = &mut rest.selection;
    (*include, *listed_only) = (Vec::new(), false);
    if is_whole {
        exclude.clear();
        tools.values_mut().for_each(|tool| tool.enabled = true);
        tools.retain(|_, tool| *tool != ToolSpec::default());
    }
    seen
}
