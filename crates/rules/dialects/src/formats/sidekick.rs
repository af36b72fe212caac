//! Sidekick's `mcp_tools_config.json`: a list of processes, each with the tools it may show.
//!
//! Strings contain no variables. Tools that are not listed are hidden, so the list is required.

use std::collections::BTreeMap;

use toolgate_model::{
    ConfigValue, DeclaredTool, ServerSpec, StdioSpec, ToolSelection, TransportSpec,
};

use crate::common::entry::{EntryField, TimeoutField, TimeoutScope, exact_names, render_literal};
use crate::common::fields::TimeUnit;
use crate::common::server::{self, EntryKeys};
use crate::common::tree::TreeNode;
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{DialectFormat, EnabledField, ServersLocation};
use crate::{FileSettings, template};

/// The dialect of Sidekick.
pub(crate) const FORMAT: DialectFormat = DialectFormat {
    name: "sidekick",
    paths: &["mcp_tools_config.json"],
    extras: "sidekick",
    servers: ServersLocation::List(&["servers"]),
    stdio_only: Some("Sidekick only starts processes"),
    enabled: Some(EnabledField::ENABLED),
    fields: &[
        EntryField::Other(read_process, write_process),
        EntryField::Enabled,
        EntryField::OptionalTexts("tags", |spec| &mut spec.tags),
        EntryField::Other(read_tools, write_tools),
    ],
    read_settings: |top| {
        if top.text("version").is_some_and(|version| version != VERSION) {
            let problem = "is not known: the file is read as version 1.0";
            top.warn("version", problem, "write \"1.0\"");
        }
        FileSettings::default()
    },
    version: || Some(ConfigValue::text(VERSION)),
    ..DialectFormat::MCP_SERVERS
};

const VERSION: &str = "1.0";
const TIMEOUT: TimeoutField = TimeoutField::new("timeout", TimeUnit::Seconds, TimeoutScope::Start);

fn read_process(entry: &mut TableFields<'_>, spec: &mut ServerSpec) {
    entry.with_table("server_config", |inner| server_config(inner, spec));
    if !entry.has("server_config") {
        entry.fail("has no `server_config`", "add it, with the `command` to start");
    }
}

/// Reads the process, and the time limit of its handshake.
fn server_config(fields: &mut TableFields<'_>, spec: &mut ServerSpec) {
    let words = fields.texts("command");
    let mut words = words.unwrap_or_default().into_iter().map(|word| template::literal(&word));
    let command = words.next().unwrap_or_default();
    let stdio = server::read_stdio(fields, command, &EntryKeys::UNTYPED);
    let stdio = StdioSpec { args: words.collect(), ..stdio };
    match fields.node("command") {
        Some(node) if node.list().is_some() => server::check_stdio(fields, &stdio, "command"),
        Some(_) => {}
        None => fields.fail("has no `command`", "list the program and its arguments"),
    }
    spec.transport = TransportSpec::Stdio(stdio);
    TIMEOUT.read(fields, spec);
}

fn read_tools(entry: &mut TableFields<'_>, spec: &mut ServerSpec) {
    if !entry.has("tools") {
        let hint = "list those to expose: [{\"name\": \"…\"}]; others are hidden";
        entry.fail("has no `tools`", hint);
    }
    let mut tools = BTreeMap::new();
    for item in entry.list("tools").unwrap_or_default() {
        if let Some((name, tool)) = tool(entry, item)
            && tools.insert(name.clone(), tool).is_some()
        {
            entry.error_at(item.at, &format!("lists the tool {name:?} twice"), "keep one");
        }
    }
    spec.selection = ToolSelection { listed_only: true, tools, ..ToolSelection::default() };
}

/// Reads one tool. An invalid tool is reported and stays hidden; the others are used.
fn tool<'t>(entry: &TableFields<'t>, item: &'t TreeNode) -> Option<(String, DeclaredTool)> {
    let Some(members) = item.table() else {
        let message = format!("a tool is {}, not a table", item.value.kind());
        entry.diagnostics.error(item.at, message, "write it as {\"name\": \"…\"}");
        return None;
    };
    let mut fields = entry.nested("a tool", item.at, members);
    let name = fields.owned_text("name").filter(|name| !name.is_empty());
    if fields.node("name").is_none_or(|node| node.text() == Some("")) {
        fields.fail("has no `name`", "give it the one its server reports");
    }
    let tool = DeclaredTool {
        alias: fields.owned_text("alias"),
        tags: fields.texts("tags"),
        enabled: fields.flag("enabled").unwrap_or(true),
        approval: None,
    };
    let is_usable = fields.finish();
    name.filter(|_| is_usable).map(|name| (name, tool))
}

fn write_process(rest: &mut ServerSpec, writer: &mut EntryWriter<'_>) {
    let TransportSpec::Stdio(stdio) = &rest.transport else { return };
    writer.with_table("server_config", |inner| {
        let command = render_literal(inner, "command", &stdio.command);
        let args = stdio.args.iter().filter_map(|arg| render_literal(inner, "args", arg));
        let words: Vec<_> = command.into_iter().chain(args).collect();
        inner.texts("command", &words);
        inner.secrets("env", "env", &stdio.env);
        inner.cwd(None, stdio.cwd.as_deref());
        TIMEOUT.write(&mut rest.timeouts, inner);
    });
}

/// Writes the list of tools, each enabled or disabled according to all rules, because the dialect
/// has no other rules.
fn write_tools(rest: &mut ServerSpec, writer: &mut EntryWriter<'_>) {
    let selection = &mut rest.selection;
    let mut tools = selection.tools.clone();
    if !selection.listed_only {
        if selection.include.is_empty() {
            let why = "every tool must be listed here: those that are not stay hidden";
            writer.losses.add("tools", why);
        }
        for name in exact_names(writer, "include", &selection.include) {
            tools.entry(name).or_default();
        }
    }
    tools.iter_mut().for_each(|(name, tool)| tool.enabled = selection.is_visible(name));
    *selection = ToolSelection { approval: selection.approval, ..ToolSelection::default() };
    let written = tools.iter().map(|(name, tool)| write_tool(name, tool, writer)).collect();
    writer.data("tools", ConfigValue::List(written));
}

fn write_tool(name: &str, tool: &DeclaredTool, writer: &mut EntryWriter<'_>) -> ConfigValue {
    let DeclaredTool { alias, tags, enabled, approval } = tool;
    writer.losses.add_if_set(&format!("tools.{name}.approval"), approval.is_some());
    let fields = writer.nested_fields(|inner| {
        inner.text("name", Some(name));
        inner.text("alias", alias.as_deref());
        if let Some(tags) = tags {
            inner.data("tags", ConfigValue::texts(tags.iter().cloned()));
        }
        if !enabled {
            inner.flag("enabled", false);
        }
    });
    ConfigValue::Table(fields)
}
