//! Copilot CLI's `mcp-config.json`, and a repository's `.github/mcp.json`.

use toolgate_model::{ConfigValue, DeclaredTool, HttpTransportKind, ServerSpec, ToolSelection};

use crate::VariableSyntax;
use crate::common::entry::{EntryField, exact_names};
use crate::common::server::{AUTO, EntryKeys, SSE, STREAMABLE};
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::DialectFormat;

/// The dialect of Copilot CLI.
pub(crate) const FORMAT: DialectFormat = DialectFormat {
    name: "copilot",
    paths: &["mcp-config.json", ".github/mcp.json"],
    extras: "copilot",
    variables: VariableSyntax::Braces,
    keys: EntryKeys {
        transport_keys: &["type"],
        transport_names: &[("local", None), ("stdio", None), ("http", AUTO), ("sse", SSE)],
        written_names: &[("local", None), ("http", AUTO), ("http", STREAMABLE), ("sse", SSE)],
        lost_kinds: &[HttpTransportKind::Streamable],
        ..EntryKeys::COMMON
    },
    fields: &[
        EntryField::Transport,
        EntryField::Other(read_tools, write_tools),
        // Its documentation is too vague to use it.
        EntryField::Kept(&["timeout"]),
    ],
    ..DialectFormat::MCP_SERVERS
};

/// The word for all tools.
const ALL: &str = "*";

fn read_tools(entry: &mut TableFields<'_>, spec: &mut ServerSpec) {
    match entry.texts("tools") {
        // An empty list shows no tools.
        Some(tools) if tools.is_empty() => spec.selection.listed_only = true,
        Some(tools) if !tools.iter().any(|tool| tool == ALL) => spec.selection.include = tools,
        _ => {}
    }
}

/// Writes the list of tools, which Copilot requires. A list of names replaces all other rules about
/// visible tools.
fn write_tools(rest: &mut ServerSpec, writer: &mut EntryWriter<'_>) {
    let ToolSelection { include, listed_only, tools, .. } = &rest.selection;
    if !listed_only && include.is_empty() {
        return writer.data("tools", ConfigValue::texts([ALL]));
    }
    let named: Vec<_> = match listed_only {
        true => tools.keys().cloned().collect(),
        false => exact_names(writer, "include", include),
    };
    let is_whole = *listed_only || named.len() == include.len();
    let seen = named.into_iter().filter(|name| rest.selection.is_visible(name));
    writer.data("tools", ConfigValue::texts(seen));
    let ToolSelection { include, exclude, listed_only, tools, .. } = &mut rest.selection;
    (*include, *listed_only) = (Vec::new(), false);
    if is_whole {
        exclude.clear();
        tools.values_mut().for_each(|tool| tool.enabled = true);
        tools.retain(|_, tool| *tool != DeclaredTool::default());
    }
}
